import type { Clock } from '../core/clock.ts';
import { SECOND_MS } from '../core/units.ts';

/** How the practice API behaves. */
export type PracticeApiOptions = {
  /** 0 = any free one. */
  port: number;
  /** Products; 0 to 10,000,000. They are computed as asked for, so many cost nothing. */
  items: number;
  /** Time before every answer but a 429, ms. */
  latencyMs: number;
  /** Share of requests that fail with 503 the first time they are made, 0 to 1; the same request again succeeds. */
  errorRate: number;
  /** Requests per second per credential or address, counted in fixed windows; null = no limit. */
  rateLimit: number | null;
  /** The same seed gives the same products, reviews and failures. */
  seed: number;
  /** Address to listen on; loopback when left out. */
  host?: string;
  /** Length of the limiter's window, ms; 1,000 when left out. */
  rateLimitWindowMs?: number;
  /**
   * Headers that state the limit on every answer: `x-ratelimit-*`, the IETF draft's `ratelimit-*`, or none but the
   * Retry-After of a 429; none when left out.
   */
  rateLimitHeaders?: 'x-ratelimit' | 'draft' | 'none';
  /** Life of an OAuth2 access token, s; 60 when left out. */
  tokenLifetimeSecs?: number;
  /** For the latency, token lives and the time of a change; the system's when left out. */
  clock?: Clock;
};

/**
 * The practice API of a bare `npm start`. 15 products a page make 20 list pages, 300 details and 296 pages of reviews:
 * enough to see a crawl at work, little enough to wait for.
 * - latencyMs 40: a server on the same continent, so that concurrency matters.
 * - errorRate 0.01: six 503s, two of them with Retry-After: 1.
 * - rateLimit 100: more than a cautious start reaches at once, far less than 50 connections could do (50 / 0.04 s =
 *   1,250/s), so that a crawl meets it, draws a few 429s with Retry-After: 1, and goes on just below it. It is not
 *   stated in headers: a crawler that reads them would never draw a 429.
 * At 0.8 of the limit 616 requests take 8 s; with a slow start and the waits 10 to 13 s.
 */
export const BUNDLED_PRACTICE_API = {
  port: 0,
  items: 300,
  latencyMs: 40,
  errorRate: 0.01,
  rateLimit: 100,
  seed: 2,
} as const satisfies PracticeApiOptions;

/** Credentials the authenticated paths accept. No secrets: anyone may use them. */
export const PRACTICE_CREDENTIALS = {
  bearerToken: 'practice-token',
  apiKey: 'practice-key',
  username: 'practice',
  password: 'let-me-in',
  clientId: 'practice-client',
  clientSecret: 'practice-secret',
} as const;

/** @returns the fixed window nearest to the one asked for that holds the rate exactly, with room for a request at least */
export function limiterWindow(requestsPerSecond: number, windowMs: number): { max: number; windowMs: number } {
  const max = Math.max(1, Math.round((requestsPerSecond * windowMs) / SECOND_MS));
  return { max, windowMs: Math.round((max * SECOND_MS) / requestsPerSecond) };
}
