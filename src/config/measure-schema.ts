import { z } from 'zod';
import { timeoutsSchema } from './host-schema.ts';

const request = {
  headers: z.record(z.string().min(1), z.string()).default({}).describe('Headers sent with every request'),
  http2: z.enum(['auto', 'off']).default('auto').describe('HTTP/2 where the server offers it'),
  timeoutMs: timeoutsSchema.shape.totalMs,
};
const positiveRate = z.number().positive().max(1_000_000);

/** Settings of `millrace probe`. */
export const probeSchema = z.strictObject({
  ...request,
  rate: positiveRate.default(100).describe('The rate you wish for, requests/s: tells the concurrency it needs'),
  maxConcurrency: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(50)
    .describe('Requests in flight to tell the ceiling of the position for'),
  keepAliveMs: z
    .number()
    .int()
    .min(0)
    .max(600_000)
    .default(6_000)
    .describe('Longest time to wait for the server to close an idle connection, ms'),
});

/** Settings of `millrace ramp`. */
export const rampSchema = z.strictObject({
  ...request,
  maxRate: positiveRate.default(50).describe('Never send faster than this, requests/s'),
});

/** Settings of `millrace bench`. */
export const benchSchema = z.strictObject({
  ...request,
  requests: z.number().int().min(1).max(100_000_000).default(1_000).describe('Requests that are measured'),
  concurrency: z.number().int().min(1).max(10_000).default(10).describe('Requests in flight, without a rate'),
  rate: positiveRate
    .nullable()
    .default(null)
    .describe('Send at this fixed rate instead, requests/s, however slow the answers are; null = as answers come'),
  warmup: z
    .number()
    .int()
    .min(0)
    .max(10_000_000)
    .nullable()
    .default(null)
    .describe('Requests sent before, not measured (default: a tenth, at least the concurrency); null = that'),
});

export type ProbeSettings = Readonly<z.output<typeof probeSchema>>;
export type RampSettings = Readonly<z.output<typeof rampSchema>>;
export type BenchSettings = Readonly<z.output<typeof benchSchema>>;
