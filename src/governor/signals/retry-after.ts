import { parseHttpDate } from './http-date.ts';

// Ten digits of seconds are 317 years: whatever is longer is not a wait.
const DELTA_SECONDS = /^\d{1,10}(\.\d{1,9})?$/;

/**
 * Reads a Retry-After header.
 * @param value  header text: delta-seconds ("120"; fractions, which some servers send, are taken) or an HTTP-date
 * @param serverWallMs the server's clock, Unix epoch ms: used only for the date form
 * @returns ms to wait, > 0; undefined when absent, malformed, zero or past: such a value tells nothing (never throws)
 * @see RFC 9110 section 10.2.3
 */
export function parseRetryAfter(value: string | undefined, serverWallMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (DELTA_SECONDS.test(text)) return positive(Number(text) * 1000);
  const dateMs = parseHttpDate(text);
  return dateMs === undefined ? undefined : positive(dateMs - serverWallMs);
}

function positive(waitMs: number): number | undefined {
  return waitMs > 0 ? Math.ceil(waitMs) : undefined;
}
