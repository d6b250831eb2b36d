import type { HttpRequest } from './client.ts';
import { HttpError } from './http-error.ts';

/** The codings that are undone here. */
export const ACCEPT_ENCODING = 'gzip, deflate, br, zstd';
// Servers stop at 8 to 32 KiB.
const MOST_HEADER_CHARACTERS = 64 * 1024;

/**
 * The headers of a request as undici takes them fastest: a flat list of names and values. Adds Accept-Encoding where
 * the request says nothing of it, and the URL's Basic credentials where there is no Authorization.
 * @throws HttpError INVALID_REQUEST when they are longer than 64 KiB together
 */
export function requestHeaders(
  request: HttpRequest,
  facts: { host: string; authorization: string | null; proxyAuthorization: string | null },
): string[] {
  const { headers } = request;
  refuseLongHeaders(facts.host, headers);
  const list: string[] = [];
  for (const name in headers) {
    list.push(name, headers[name]!);
  }
  if (headers['accept-encoding'] === undefined) list.push('accept-encoding', ACCEPT_ENCODING);
  if (facts.authorization !== null && headers.authorization === undefined) {
    list.push('authorization', facts.authorization);
  }
  if (facts.proxyAuthorization !== null) list.push('proxy-authorization', facts.proxyAuthorization);
  return list;
}

/** @throws HttpError INVALID_REQUEST when they are longer than 64 KiB together */
export function refuseLongHeaders(host: string, headers: Record<string, string>): void {
  let characters = 0;
  for (const name in headers) characters += name.length + headers[name]!.length;
  if (characters <= MOST_HEADER_CHARACTERS) return;
  throw new HttpError({
    code: 'INVALID_REQUEST',
    message: `${host}: the request's headers have ${characters} characters, more than ${MOST_HEADER_CHARACTERS}`,
    wasSent: false,
  });
}
