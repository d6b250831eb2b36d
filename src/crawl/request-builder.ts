import type { HostConfig } from '../config/host-schema.ts';
import { hostOf } from '../core/host.ts';
import type { HttpRequest, HttpTimeouts } from '../http/client.ts';
import type { Job } from './job.ts';
import type { CrawlParts } from './parts.ts';

/** What a preNavigationHook may change of the request about to be sent. */
export type NavigationOptions = {
  headers?: Record<string, string | string[] | undefined>;
  method?: string;
  body?: string | Uint8Array;
  json?: unknown;
  form?: Record<string, string>;
  searchParams?: string | URLSearchParams | Record<string, string | number | boolean | null | undefined>;
  timeout?: { request?: number };
  /** false: a redirect is the answer. */
  followRedirect?: boolean;
};

/** Per host: what does not change from request to request. */
type HostDefaults = { timeouts: HttpTimeouts; http2: HostConfig['http2'] };

const MOST_ORIGINS_KEPT = 10_000;

/**
 * Builds the HTTP request of a job, without what its session adds to each hop; what is the same for all requests of an
 * origin is built once.
 */
export class RequestBuilder {
  readonly #parts: CrawlParts;
  readonly #headersByOrigin = new Map<string, Readonly<Record<string, string>>>();
  readonly #defaultsByHost = new Map<string, HostDefaults>();

  constructor(parts: CrawlParts) {
    this.#parts = parts;
  }

  build(job: Job, navigation?: NavigationOptions): HttpRequest {
    const { request, leased, data } = job;
    const base = this.headersOf(originOf(request.url));
    const requestHeaders = job.isExposed ? request.headers : data.headers;
    const { timeouts, http2 } = this.#defaultsOf(leased.host);
    const built: HttpRequest = {
      url: request.url,
      method: request.method,
      headers: requestHeaders === undefined ? base : { ...base, ...lowerCased(requestHeaders) },
      body: request.payload ?? null,
      timeouts,
      maxBodyBytes: this.#parts.settings.maxBodyBytes,
      proxyUrl: job.proxyUrl,
      http2,
    };
    return navigation === undefined ? built : navigated(built, navigation);
  }

  /** What the crawl sends with every request to the origin, names in lower case. */
  headersOf(origin: string): Readonly<Record<string, string>> {
    let headers = this.#headersByOrigin.get(origin);
    if (headers === undefined) {
      const { userAgentFor, originHeaders } = this.#parts.settings;
      const userAgent = userAgentFor(hostOf(`${origin}/`));
      headers = {
        ...(userAgent === null ? {} : { 'user-agent': userAgent }),
        accept: 'application/json, */*;q=0.8',
        'accept-encoding': 'gzip, deflate, br, zstd',
        ...(originHeaders.origins.has(origin) ? originHeaders.headers : {}),
      };
      if (this.#headersByOrigin.size >= MOST_ORIGINS_KEPT) this.#headersByOrigin.clear();
      this.#headersByOrigin.set(origin, headers);
    }
    return headers;
  }

  #defaultsOf(host: string): HostDefaults {
    let defaults = this.#defaultsByHost.get(host);
    if (defaults === undefined) {
      const { timeouts, http2 } = this.#parts.hostConfig(host);
      defaults = { timeouts, http2 };
      if (this.#defaultsByHost.size >= MOST_ORIGINS_KEPT) this.#defaultsByHost.clear();
      this.#defaultsByHost.set(host, defaults);
    }
    return defaults;
  }
}

/** The request with what a preNavigationHook changed. */
function navigated(request: HttpRequest, navigation: NavigationOptions): HttpRequest {
  const { method = request.method, timeout, searchParams } = navigation;
  const { type, body } = bodyOf(request, navigation);
  const totalMs = timeout?.request ?? request.timeouts.totalMs;
  const headers: Record<string, string> = { ...(type === null ? {} : { 'content-type': type }), ...request.headers };
  const own = lowerCased(navigation.headers);
  if (own.cookie !== undefined && headers.cookie !== undefined) own.cookie = mergedCookies(own.cookie, headers.cookie);
  return {
    ...request,
    url: searchParams === undefined ? request.url : withSearch(request.url, searchParams),
    method: method.toUpperCase(),
    headers: { ...headers, ...own },
    body,
    timeouts: { ...request.timeouts, totalMs },
  };
}

function bodyOf(
  request: HttpRequest,
  { body, json, form }: NavigationOptions,
): { type: string | null; body: HttpRequest['body'] } {
  if (body !== undefined) return { type: null, body };
  if (json !== undefined) return { type: 'application/json', body: JSON.stringify(json) };
  if (form !== undefined)
    return { type: 'application/x-www-form-urlencoded', body: new URLSearchParams(form).toString() };
  return { type: null, body: request.body };
}

function withSearch(text: string, searchParams: NonNullable<NavigationOptions['searchParams']>): string {
  const url = new URL(text);
  if (typeof searchParams === 'string') url.search = searchParams;
  else {
    const pairs = searchParams instanceof URLSearchParams ? searchParams : Object.entries(searchParams);
    for (const [name, value] of pairs) if (value !== undefined) url.searchParams.set(name, String(value ?? ''));
  }
  return url.href;
}

/** @returns two Cookie headers as one; where both have a name, the first one's */
export function mergedCookies(first: string, second: string): string {
  const names = new Set(first.split(';').map(nameOfCookie));
  const others = second.split(';').filter((cookie) => !names.has(nameOfCookie(cookie)));
  return [first, ...others.map((cookie) => cookie.trim())].join('; ');
}

function nameOfCookie(cookie: string): string {
  return cookie.split('=', 1)[0]!.trim();
}

/** @returns scheme, host and port of an absolute URL, as written in it */
export function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end < 0 ? url : url.slice(0, end);
}

function lowerCased(headers: NavigationOptions['headers']): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value !== undefined) result[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return result;
}
