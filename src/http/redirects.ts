import { CrawlError } from '../core/errors.ts';
import type { ResponseHeaders } from '../core/headers.ts';
import type { HttpRequest } from './client.ts';

export type RedirectErrorCode = 'TOO_MANY_REDIRECTS' | 'REDIRECT_LOOP' | 'BAD_LOCATION' | 'SECRET_REDIRECTED';

/** A redirect that leads nowhere. */
export class RedirectError extends CrawlError {
  override readonly name = 'RedirectError';
  readonly code: RedirectErrorCode;
  readonly recovery = 'skip';
  constructor(facts: { code: RedirectErrorCode; message: string }) {
    super(facts.message);
    this.code = facts.code;
  }
}

export type RedirectRules = {
  /** URLs asked so far, the first one first; the last one gave this response. */
  visited: readonly string[];
  /** Most redirects of one request. */
  limit: number;
  /** Further headers, in lower case, that must not leave their origin. */
  secretHeaders?: readonly string[];
  /** Whether the body must not leave its origin. */
  hasSecretBody?: boolean;
};

// RFC 9110 15.4. 300 offers a choice, 304 is no redirect, 305 and 306 are retired.
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

// What is known to carry credentials, or names the host.
const BOUND_TO_ORIGIN = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'host',
  'x-api-key',
  'api-key',
  'apikey',
  'x-auth-token',
  'x-access-token',
  'x-csrf-token',
  'x-xsrf-token',
];
// Headers that describe the body (RFC 9110 8): they go with it.
const OF_BODY = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-location',
  'transfer-encoding',
  'digest',
];

/** @returns whether the response sends its client elsewhere */
export function isRedirect(response: { status: number; headers: ResponseHeaders }): boolean {
  return REDIRECT_STATUSES.has(response.status) && response.headers.location !== undefined;
}

/**
 * The request that follows a redirect: method and body as RFC 9110 15.4 and all clients have them, credentials only
 * within the origin.
 * @throws RedirectError: too many, back to where it came from, to what is no http URL, or with a secret body elsewhere
 */
export function nextHop(
  request: HttpRequest,
  response: { status: number; headers: ResponseHeaders },
  rules: RedirectRules,
): HttpRequest {
  const target = locationOf(request.url, response.headers);
  const keepsBody = keepsMethod(request.method, response.status);
  const method = keepsBody ? request.method : 'GET';
  refuseExcess(rules);
  if (method === request.method) refuseLoop(target.href, response.headers, rules.visited);
  const staysHome = target.origin === new URL(request.url).origin;
  if (!staysHome && keepsBody && request.body !== null && rules.hasSecretBody) refuseToTell(request.url, target);
  const dropped = [
    ...(keepsBody ? [] : OF_BODY),
    ...(staysHome ? [] : [...BOUND_TO_ORIGIN, ...(rules.secretHeaders ?? [])]),
  ];
  return {
    ...request,
    url: target.href,
    method,
    headers: withoutHeaders(request.headers, dropped),
    body: keepsBody ? request.body : null,
  };
}

// 303 makes a GET of all but HEAD; 301 and 302 of POST only, as browsers do (Fetch 4.4, step 12).
function keepsMethod(method: string, status: number): boolean {
  if (status === 303) return method === 'GET' || method === 'HEAD';
  return !(method === 'POST' && (status === 301 || status === 302));
}

function refuseExcess({ visited, limit }: RedirectRules): void {
  if (visited.length <= limit) return;
  throw new RedirectError({
    code: 'TOO_MANY_REDIRECTS',
    message: `${visited[0]} was redirected more than ${limit} times, last by ${visited.at(-1)}`,
  });
}

// Without its body the request would be another one, and its answer taken for the one that was asked for.
function refuseToTell(from: string, target: URL): never {
  throw new RedirectError({
    code: 'SECRET_REDIRECTED',
    message: `${from} was redirected to ${target.origin}, and its body holds a secret that goes to ${new URL(from).origin} only`,
  });
}

// A server that sets a cookie and sends its client back expects another answer the next time.
function refuseLoop(url: string, headers: ResponseHeaders, visited: readonly string[]): void {
  const start = visited.findIndex((seen) => withoutFragment(seen) === url);
  if (start < 0 || headers['set-cookie'] !== undefined) return;
  const loop = [...visited.slice(start), url].join(' -> ');
  throw new RedirectError({ code: 'REDIRECT_LOOP', message: `redirected in a loop: ${loop}` });
}

function withoutFragment(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed) return url;
  parsed.hash = '';
  return parsed.href;
}

function locationOf(from: string, headers: ResponseHeaders): URL {
  const { location } = headers;
  const written = Array.isArray(location) ? location[0] : location;
  const target = written === undefined ? null : URL.parse(asUtf8(written), from);
  if (!target || (target.protocol !== 'http:' && target.protocol !== 'https:')) {
    const seen = written === undefined ? 'without a Location' : `to "${written.slice(0, 200)}", which is no http URL`;
    throw new RedirectError({ code: 'BAD_LOCATION', message: `${from} was redirected ${seen}` });
  }
  target.hash = '';
  return target;
}

// Headers arrive as Latin-1; servers write UTF-8 into Location, and mean it.
function asUtf8(location: string): string {
  if (!/[\u0080-\u00ff]/.test(location)) return location;
  const text = Buffer.from(location, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? location : text;
}

function withoutHeaders(headers: Record<string, string>, names: readonly string[]): Record<string, string> {
  if (names.length === 0) return headers;
  const dropped = new Set(names);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name.toLowerCase())));
}
