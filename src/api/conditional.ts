import { headerText, type ResponseHeaders } from '../core/headers.ts';

/**
 * Conditional requests for `--refresh`. What the crawl does with them (docs/api.md, "Only what has changed"): it keeps
 * each response that has validators with its body; asks again with `conditionalHeaders`; and on 304 hands the kept body
 * to the same extract as if it had come again, so that records, follow-up pages and counts are all carried over.
 */

/** What a response can be asked for again by. */
export type Validators = { etag: string | null; lastModified: string | null };

/** @returns the validators of a response that may be kept; null when it has none, is no 200, or says no-store */
export function validatorsOf(status: number, headers: ResponseHeaders): Validators | null {
  if (status !== 200 || /(^|[\s,])no-store([\s,]|$)/i.test(headerText(headers, 'cache-control') ?? '')) return null;
  const etag = headerText(headers, 'etag') ?? null;
  const lastModified = headerText(headers, 'last-modified') ?? null;
  const usable = etag !== null && /^(W\/)?"[^"]*"$/.test(etag) ? etag : null;
  return usable === null && lastModified === null ? null : { etag: usable, lastModified };
}

/**
 * @returns headers that ask for the body only if it has changed; none for a request that brings its own conditions
 * @see RFC 9110 13.1.2 and 13.1.3: If-Modified-Since is ignored where If-None-Match is understood, so both are sent
 */
export function conditionalHeaders(
  validators: Validators,
  requestHeaders: Readonly<Record<string, string>> = {},
): Record<string, string> {
  if (Object.hasOwn(requestHeaders, 'if-none-match') || Object.hasOwn(requestHeaders, 'if-modified-since')) return {};
  return {
    ...(validators.etag === null ? {} : { 'if-none-match': validators.etag }),
    ...(validators.lastModified === null ? {} : { 'if-modified-since': validators.lastModified }),
  };
}

/** Headers a 304 does not replace: they speak of the body that was not sent. @see RFC 9111 3.2 */
const OF_THE_BODY = new Set([
  'content-length',
  'content-encoding',
  'content-type',
  'content-range',
  'transfer-encoding',
]);

/** @returns the kept headers, freshened by those of the 304. @see RFC 9111 4.3.4 */
export function freshenedHeaders(kept: ResponseHeaders, notModified: ResponseHeaders): ResponseHeaders {
  const fresh = Object.entries(notModified).filter(([name]) => !OF_THE_BODY.has(name));
  return { ...kept, ...Object.fromEntries(fresh) };
}
