import type { HostConfig } from '../config/host-schema.ts';
import type { HttpRequest, HttpTimeouts } from '../http/client.ts';
import type { Job } from './job.ts';
import type { CrawlParts } from './parts.ts';

/** What a preNavigationHook may change of the request about to be sent. */
export type NavigationOptions = {
  headers?: Record<string, string | string[] | undefined>;
  method?: string;
  body?: string | Uint8Array;
  json?: unknown;
  timeout?: { request?: number };
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
    const base = this.#headersOf(originOf(request.url));
    const requestHeaders = job.isExposed ? request.headers : data.headers;
    const isPlain = requestHeaders === undefined && navigation === undefined;
    const headers = isPlain ? base : { ...base, ...lowerCased(requestHeaders), ...lowerCased(navigation?.headers) };
    const { timeouts, http2 } = this.#defaultsOf(leased.host);
    const totalMs = navigation?.timeout?.request;
    return {
      url: request.url,
      method: navigation?.method ?? request.method,
      headers: navigation?.json === undefined ? headers : { 'content-type': 'application/json', ...headers },
      body:
        navigation?.body ??
        (navigation?.json === undefined ? (request.payload ?? null) : JSON.stringify(navigation.json)),
      timeouts: totalMs === undefined ? timeouts : { ...timeouts, totalMs },
      maxBodyBytes: this.#parts.settings.maxBodyBytes,
      proxyUrl: this.#parts.sessions.proxyOf(job.session),
      http2,
    };
  }

  #headersOf(origin: string): Readonly<Record<string, string>> {
    let headers = this.#headersByOrigin.get(origin);
    if (headers === undefined) {
      const { userAgent, originHeaders } = this.#parts.settings;
      headers = {
        'user-agent': userAgent,
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
