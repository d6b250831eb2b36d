import { createHash } from 'node:crypto';
import { isNormalUrl } from './normal-url.ts';

/** What tells two requests apart. */
export type RequestIdentity = { url: string; method?: string; payload?: string | Uint8Array };

/**
 * The key that deduplicates requests.
 * @returns for a GET without body the URL, WHATWG-normalised, fragment dropped, nothing else changed;
 *   otherwise `METHOD|sha256(body)|URL` (hex; empty between the bars where there is no body)
 * @throws TypeError when the URL is not absolute
 */
export function uniqueKeyOf({ url, method = 'GET', payload }: RequestIdentity): string {
  const normalised = normaliseUrl(url);
  const hasBody = payload !== undefined && payload.length > 0;
  if (method === 'GET' && !hasBody) return normalised;
  const digest = hasBody ? createHash('sha256').update(payload).digest('hex') : '';
  return `${method}|${digest}|${normalised}`;
}

/**
 * @returns the URL as the WHATWG parser writes it, without its fragment
 * @throws TypeError when the URL is not absolute
 */
export function normaliseUrl(url: string): string {
  if (isNormalUrl(url)) return url;
  const parsed = new URL(url);
  if (parsed.hash !== '' || parsed.href.endsWith('#')) parsed.hash = '';
  return parsed.href;
}
