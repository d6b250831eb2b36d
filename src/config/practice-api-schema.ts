import { z } from 'zod';

/** Settings of `millrace practice-api`. */
export const practiceApiSchema = z.strictObject({
  port: z.number().int().min(0).max(65_535).default(8080).describe('Port to listen on; 0 = any free one'),
  items: z.number().int().min(0).max(10_000_000).default(1000).describe('Products it has'),
  latencyMs: z.number().min(0).max(600_000).default(20).describe('Time before every answer, ms'),
  errorRate: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe('Share of requests that fail with 503 when first made, 0 to 1'),
  rateLimit: z
    .number()
    .positive()
    .max(1_000_000)
    .nullable()
    .default(null)
    .describe('Requests per second it allows each client; null = no limit'),
});

/** What `practice-api` is asked to do. */
export type PracticeApiJob = Readonly<z.output<typeof practiceApiSchema>>;
