import { HttpError } from './http-error.ts';

/** Where a request goes: `origin` names the pool, `path` goes on the wire. */
export type Target = {
  /** As `URL.origin`. */
  origin: string;
  /** Path and query, at least "/". */
  path: string;
  /** Basic credentials of a URL like `https://user:password@host/`; null without. */
  authorization: string | null;
};

// Nothing legitimate is longer; most servers stop at 8 KiB.
const LONGEST_URL = 64 * 1024;

// The common case needs no parsing: an origin spelt as before, and a path of characters that are never encoded, without
// the segments "." and "..", however they are written.
const PLAIN_PATH = /^\/[\w\-~!$&()*+,;=:@?%./]*$/;
const LONGEST_SCHEME = 'https://'.length;
const MOST_ORIGINS = 10_000;
const originOfPrefix = new Map<string, string>();

/**
 * @param url absolute, http or https
 * @throws HttpError INVALID_URL: not absolute, another protocol, or longer than 64 KiB
 */
export function parseTarget(url: string): Target {
  if (url.length > LONGEST_URL) throw invalidUrl(`${url.slice(0, 200)}... is longer than ${LONGEST_URL} characters`);
  const pathStart = url.indexOf('/', LONGEST_SCHEME);
  if (pathStart > 0) {
    const origin = originOfPrefix.get(url.slice(0, pathStart));
    const path = url.slice(pathStart);
    if (origin !== undefined && isPlain(path)) return { origin, path, authorization: null };
  }
  return parseSlowly(url);
}

function isPlain(path: string): boolean {
  return PLAIN_PATH.test(path) && !path.includes('/.') && !path.includes('%2');
}

function parseSlowly(url: string): Target {
  const parsed = URL.parse(url);
  if (!parsed) throw invalidUrl(`"${url.slice(0, 200)}" is not an absolute URL`);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw invalidUrl(`"${url.slice(0, 200)}" is ${parsed.protocol.slice(0, -1)}, not http or https`);
  }
  const authorization = basicAuthorization(parsed);
  if (authorization === null) rememberPrefix(url, parsed.origin);
  return { origin: parsed.origin, path: parsed.pathname + parsed.search, authorization };
}

function rememberPrefix(url: string, origin: string): void {
  const prefix = /^https?:\/\/[^/?#\\\s]+(?=\/)/i.exec(url)?.[0];
  if (prefix === undefined) return;
  if (originOfPrefix.size >= MOST_ORIGINS) originOfPrefix.clear();
  originOfPrefix.set(prefix, origin);
}

/** @returns the Basic credentials in a URL's user info; null when it has none */
export function basicAuthorization(url: URL): string | null {
  if (url.username === '' && url.password === '') return null;
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function invalidUrl(message: string): HttpError {
  return new HttpError({ code: 'INVALID_URL', message, wasSent: false });
}
