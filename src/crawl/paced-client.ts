import { hostOf } from '../core/host.ts';
import type { ConnectionStats, HttpClient, HttpRequest, HttpResponse } from '../http/client.ts';
import { NETWORK_FAILURE_OF } from '../http/client.ts';
import { HttpError } from '../http/http-error.ts';
import type { GrantLine } from './grant-line.ts';
import type { CrawlParts } from './parts.ts';
import { originOf, type RequestBuilder } from './request-builder.ts';

/**
 * The client behind `context.sendRequest`: each request waits for its host's leave like any other, and the governor
 * learns of it. Headers that the crawl sends to an origin are added, those of the caller's before them.
 */
export class PacedClient implements HttpClient {
  readonly #parts: Pick<CrawlParts, 'ports' | 'gate' | 'queue' | 'clientFor'>;
  readonly #grants: GrantLine;
  readonly #builder: RequestBuilder;

  constructor(options: {
    parts: Pick<CrawlParts, 'ports' | 'gate' | 'queue' | 'clientFor'>;
    grants: GrantLine;
    builder: RequestBuilder;
  }) {
    this.#parts = options.parts;
    this.#grants = options.grants;
    this.#builder = options.builder;
  }

  async send(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> {
    const { ports, clientFor } = this.#parts;
    const host = hostOf(request.url);
    const key = this.#grants.tryNow(host) ?? (await this.#grants.wait(host, signal));
    const sentAtMs = ports.clock.nowMs();
    const headers = { ...this.#builder.headersOf(originOf(request.url)), ...request.headers };
    try {
      const response = await clientFor(host).send({ ...request, headers }, signal);
      this.#learn({ host, key, sentAtMs, request, response, error: null });
      return response;
    } catch (error) {
      this.#learn({ host, key, sentAtMs, request, response: null, error });
      throw error;
    }
  }

  stats(): ConnectionStats {
    return { opened: 0, requests: 0, http2Requests: 0, waiting: 0 };
  }

  /** The connections are the crawl's. */
  async close(): Promise<void> {}

  #learn(ended: {
    host: string;
    key: string;
    sentAtMs: number;
    request: HttpRequest;
    response: HttpResponse | null;
    error: unknown;
  }): void {
    const { gate, queue, ports } = this.#parts;
    const { response, error } = ended;
    const failure = error instanceof HttpError ? NETWORK_FAILURE_OF[error.code] : 'aborted';
    gate.finish({
      key: ended.key,
      origin: originOf(ended.request.url),
      sentAtMs: ended.sentAtMs,
      endedAtMs: ports.clock.nowMs(),
      status: response?.status ?? null,
      failure: response === null ? failure : null,
      headers: response?.headers ?? {},
      wallMs: ports.clock.wallMs(),
      bodyText: null,
      method: ended.request.method,
      url: ended.request.url,
      overloaded: false,
    });
    this.#grants.released(ended.host);
    queue.released(ended.host);
  }
}
