import { z } from 'zod';
import { withoutDefaults } from './overrides.ts';

const positiveMs = (description: string, defaultMs: number) =>
  z.number().int().min(1).max(86_400_000).default(defaultMs).describe(description);

export const timeoutsSchema = z.strictObject({
  connectMs: positiveMs('Longest wait for a connection, TLS included, ms', 10_000),
  firstByteMs: positiveMs('Longest wait from the request sent to the first byte of the response, ms', 30_000),
  idleMs: positiveMs('Longest pause within a response body, ms', 30_000),
  totalMs: positiveMs('Longest time for one attempt, redirects not included, ms', 60_000),
  handlerMs: positiveMs('Longest time for a route to handle one response, ms', 60_000),
});

export const retrySchema = z.strictObject({
  maxRetries: z.number().int().min(0).max(100).default(5).describe('Retries after the first attempt'),
  baseDelayMs: z.number().int().min(0).max(3_600_000).default(500).describe('Longest wait before the first retry, ms'),
  factor: z.number().min(1).max(10).default(2).describe('Growth of the wait from retry to retry'),
  maxDelayMs: z.number().int().min(0).max(3_600_000).default(60_000).describe('Longest backoff before one retry, ms'),
  jitter: z
    .enum(['full', 'equal', 'none'])
    .default('full')
    .describe('full: anywhere between 0 and the backoff; equal: in its upper half; none: exactly the backoff'),
  statusCodes: z
    .array(z.number().int().min(400).max(599))
    .default([408, 425, 500, 502, 503, 504])
    .describe('Statuses worth a retry; 429 is never one, as it costs none'),
});

export const sessionPoolSchema = z.strictObject({
  maxPoolSize: z.number().int().min(1).max(10_000).default(10).describe('Sessions kept at once'),
  maxUsageCount: z.number().int().min(1).default(1000).describe('Requests after which a session is replaced'),
  maxAgeSecs: z.number().min(1).default(3000).describe('Age after which a session is replaced, s'),
  maxErrorScore: z.number().min(0).default(3).describe('Errors after which a session is replaced'),
  blockedStatusCodes: z
    .array(z.number().int().min(400).max(599))
    .default([401, 403])
    .describe('Statuses that retire a session, if another one exists'),
  rotation: z
    .enum(['perSession', 'perRequest', 'sticky'])
    .default('perSession')
    .describe(
      'perSession: a session keeps its proxy and goes with it; sticky: it moves on when the proxy fails; perRequest: the next proxy with each request',
    ),
  sticky: z.boolean().default(false).describe('Follow-up requests keep the session that found them'),
  proxyUrls: z
    .array(z.string().min(1))
    .default([])
    .describe('Proxies: http, https or socks URLs, host:port, or ${env:NAME} or ${file:PATH} with one a line'),
  credentials: z
    .array(
      z.strictObject({
        name: z.string().min(1).describe('Shown instead of the secret'),
        headers: z.record(z.string(), z.string()).describe('Headers that carry it; values may be ${env:NAME}'),
      }),
    )
    .default([])
    .describe('Several identities whose budgets add up'),
});

export const hostSchema = z.strictObject({
  maxConcurrency: z.number().int().min(1).max(10_000).default(50).describe('Most requests in flight to the host'),
  requestsPerSecond: z
    .number()
    .positive()
    .max(1_000_000)
    .nullable()
    .default(null)
    .describe('Ceiling of the rate; null = found out'),
  minDelayMs: z.number().min(0).max(3_600_000).default(0).describe('Least time between two requests, ms'),
  headroom: z.number().min(0.1).max(1).default(0.8).describe('Share of a discovered limit that is used'),
  discovery: z
    .enum(['auto', 'off'])
    .default('auto')
    .describe('auto: start slowly and find the limit; off: start at the configured concurrency and rate'),
  limitScope: z
    .enum(['credential', 'address'])
    .default('credential')
    .describe('What the server counts by: the credential, or the address requests come from'),
  http2: z.enum(['auto', 'off']).default('auto').describe('HTTP/2 where the server offers it'),
  httpClient: z
    .enum(['undici', 'got-scraping'])
    .nullable()
    .default(null)
    .describe("The host's own choice of client; null = the crawl's"),
  robots: z.enum(['respect', 'ignore']).default('respect').describe('Whether robots.txt is obeyed'),
  stallSecs: z
    .number()
    .min(1)
    .default(900)
    .describe('Time without progress after which the host is given up, s; parked time does not count'),
  maxServerWaitSecs: z
    .number()
    .min(1)
    .default(86_400)
    .describe('Longest wait a server may ask for before it is given up, s'),
  retryBudget: z.number().min(0).max(1).default(0.2).describe('Most retries as a share of the requests of the host'),
  safeMethods: z
    .array(z.string().regex(/^[A-Z]+$/))
    .default(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
    .describe('Methods that may be repeated though the server may have seen the first try'),
  timeouts: timeoutsSchema.prefault({}),
  retry: retrySchema.prefault({}),
  sessionPool: sessionPoolSchema.prefault({}),
});

type DeepPartial<T> = {
  [K in keyof T]?: T[K] extends readonly unknown[] | null ? T[K] : T[K] extends object ? DeepPartial<T[K]> : T[K];
};

/** One entry under `hosts`: only what it sets. */
export type HostEntry = DeepPartial<z.output<typeof hostSchema>>;
export const hostEntrySchema = withoutDefaults(hostSchema) as unknown as z.ZodType<HostEntry, HostEntry>;

/** One host's settings, complete. */
export type HostConfig = z.output<typeof hostSchema>;
export type RetryConfig = z.output<typeof retrySchema>;
export type SessionPoolConfig = z.output<typeof sessionPoolSchema>;
export type TimeoutConfig = z.output<typeof timeoutsSchema>;
