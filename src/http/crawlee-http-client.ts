import { STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import type {
  BaseHttpClient,
  BaseHttpResponseData,
  HttpRequest as CrawleeRequest,
  HttpResponse as CrawleeResponse,
  RedirectHandler,
  ResponseTypes,
  StreamingHttpResponse,
} from '@crawlee/core';
import { timeoutsSchema } from '../config/host-schema.ts';
import { inputSchema } from '../config/input-schema.ts';
import { decodeBody, parseJsonBody } from './bodies.ts';
import type { HttpClient, HttpRequest, HttpResponse, HttpTimeouts } from './client.ts';
import { collectBody } from './crawlee-body.ts';
import { isRedirect, nextHop } from './redirects.ts';

export type CrawleeHttpClientOptions = {
  /** Limits of requests that set none of their own. */
  timeouts: HttpTimeouts;
  maxBodyBytes: number;
  http2: 'auto' | 'off';
};

// As got, which Crawlee's own client is made of.
const MOST_REDIRECTS = 10;

/**
 * Our client as Crawlee calls one: for `context.sendRequest`. Redirects are followed, cookies of a jar are sent and
 * kept, error statuses are answers unless `throwHttpErrors` is set. `stream` gives the whole body at once.
 * @param options what the configuration's defaults give when left out
 */
export function toCrawleeHttpClient(
  client: HttpClient,
  options: CrawleeHttpClientOptions = defaultOptions(),
): BaseHttpClient {
  return new CrawleeHttpClient(client, options);
}

function defaultOptions(): CrawleeHttpClientOptions {
  const maxBodyBytes = inputSchema.shape.maxBodyBytes.parse(undefined);
  return { timeouts: timeoutsSchema.parse({}), maxBodyBytes, http2: 'auto' };
}

/** A response of an error status, when the caller asked for an exception. */
export class CrawleeHttpStatusError extends Error {
  override readonly name = 'HTTPError';
  readonly code = 'ERR_NON_2XX_3XX_RESPONSE';
  readonly response: BaseHttpResponseData;
  constructor(response: BaseHttpResponseData) {
    super(`${response.url} answered ${response.statusCode} ${response.statusMessage ?? ''}`.trimEnd());
    this.response = response;
  }
}

type Answer = { response: HttpResponse; data: BaseHttpResponseData };

class CrawleeHttpClient implements BaseHttpClient {
  readonly #client: HttpClient;
  readonly #options: CrawleeHttpClientOptions;

  constructor(client: HttpClient, options: CrawleeHttpClientOptions) {
    this.#client = client;
    this.#options = options;
  }

  async sendRequest<T extends keyof ResponseTypes = 'text'>(request: CrawleeRequest<T>): Promise<CrawleeResponse<T>> {
    const { response, data } = await this.#follow(request);
    const body = readBody(response, data.url, request) as ResponseTypes[T];
    return { ...data, body, rawBody: response.body, ok: response.status < 400, timings: response.timings, request };
  }

  async stream(request: CrawleeRequest, onRedirect?: RedirectHandler): Promise<StreamingHttpResponse> {
    const { response, data } = await this.#follow(request, onRedirect);
    const progress = { percent: 1, transferred: response.body.length, total: response.body.length };
    const stream = Readable.from(response.body.length > 0 ? [response.body] : []);
    return { ...data, request, stream, downloadProgress: progress, uploadProgress: { percent: 1, transferred: 0 } };
  }

  async #follow(request: CrawleeRequest<keyof ResponseTypes>, onRedirect?: RedirectHandler): Promise<Answer> {
    let hop = await this.#firstHop(request);
    const visited: string[] = [];
    for (;;) {
      const response = await this.#send(hop, request);
      visited.push(hop.url);
      const data = responseData(response, visited);
      if (!isRedirect(response) || !followsRedirect(request, data)) return finish(request, { response, data });
      hop = nextHop(hop, response, { visited, limit: request.maxRedirects ?? MOST_REDIRECTS });
      hop = announce(hop, { data, onRedirect });
    }
  }

  async #send(hop: HttpRequest, { cookieJar, signal }: CrawleeRequest<keyof ResponseTypes>): Promise<HttpResponse> {
    const jar = cookieJar as PromisedJar | undefined;
    const cookie = jar && hop.headers.cookie === undefined ? await jar.getCookieString(hop.url) : '';
    const sent = cookie ? { ...hop, headers: { ...hop.headers, cookie } } : hop;
    const response = await this.#client.send(sent, signal);
    if (jar) await Promise.all(setCookies(response).map((line) => jar.setCookie(line, hop.url)));
    return response;
  }

  async #firstHop(request: CrawleeRequest<keyof ResponseTypes>): Promise<HttpRequest> {
    const { body, contentType } = await collectBody(request.body);
    const headers = plainHeaders(request.headers);
    if (contentType !== null) headers['content-type'] ??= contentType;
    return {
      url: String(request.url),
      method: (request.method ?? 'GET').toUpperCase(),
      headers,
      body,
      timeouts: timeoutsOf(request, this.#options.timeouts),
      maxBodyBytes: this.#options.maxBodyBytes,
      proxyUrl: request.proxyUrl ?? null,
      http2: this.#options.http2,
    };
  }
}

// tough-cookie's methods return promises when they get no callback.
type PromisedJar = {
  getCookieString(url: string): Promise<string>;
  setCookie(line: string, url: string): Promise<unknown>;
};

function setCookies({ headers }: HttpResponse): string[] {
  const lines = headers['set-cookie'] ?? [];
  return Array.isArray(lines) ? lines : [lines];
}

function finish(request: CrawleeRequest<keyof ResponseTypes>, answer: Answer): Answer {
  if (request.throwHttpErrors && answer.response.status >= 400) throw new CrawleeHttpStatusError(answer.data);
  return answer;
}

function followsRedirect(
  { followRedirect = true }: CrawleeRequest<keyof ResponseTypes>,
  data: BaseHttpResponseData,
): boolean {
  return typeof followRedirect === 'function' ? followRedirect(data) : followRedirect;
}

/** Lets the caller change the next hop, as Crawlee's redirect handlers do. */
function announce(
  hop: HttpRequest,
  { data, onRedirect }: { data: BaseHttpResponseData; onRedirect: RedirectHandler | undefined },
): HttpRequest {
  if (!onRedirect) return hop;
  const updated: { url?: string | URL; headers: CrawleeRequest['headers'] & object } = {
    url: hop.url,
    headers: { ...hop.headers },
  };
  onRedirect(data, updated);
  return { ...hop, url: String(updated.url ?? hop.url), headers: plainHeaders(updated.headers) };
}

function responseData(response: HttpResponse, visited: readonly string[]): BaseHttpResponseData {
  return {
    url: visited.at(-1)!,
    redirectUrls: visited.slice(1).map((url) => new URL(url)),
    statusCode: response.status,
    statusMessage: STATUS_CODES[response.status],
    headers: response.headers,
    trailers: {},
    complete: true,
  };
}

function readBody(response: HttpResponse, url: string, request: CrawleeRequest<keyof ResponseTypes>): unknown {
  const { body, headers, status } = response;
  if (request.responseType === 'buffer') return body;
  if (request.responseType === 'json') return parseJsonBody(body, headers, { status, url });
  return request.encoding ? body.toString(request.encoding) : decodeBody(body, headers);
}

function plainHeaders(headers: CrawleeRequest['headers']): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

function timeoutsOf({ timeout }: CrawleeRequest<keyof ResponseTypes>, defaults: HttpTimeouts): HttpTimeouts {
  const { request, connect, response } = (timeout ?? {}) as Partial<Record<string, number>>;
  return {
    ...defaults,
    connectMs: connect ?? defaults.connectMs,
    firstByteMs: response ?? defaults.firstByteMs,
    totalMs: request ?? defaults.totalMs,
  };
}
