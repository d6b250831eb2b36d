import type { Dictionary, ProxyInfo, Request, RequestQueueOperationOptions, Session } from '@crawlee/core';
import type { ResponseHeaders } from '../core/headers.ts';
import type { NewRequest } from '../storage/store.ts';
import type { ContextHost } from './context-host.ts';
import { fromSource, type RequestSource } from './new-request.ts';
import type { PendingWork } from './pending-work.ts';

/** The response as hooks and handlers see it: Crawlee's names for what every client has. */
export type PlainResponse = {
  statusCode: number;
  statusMessage: string | undefined;
  headers: ResponseHeaders;
  url: string;
  httpVersion: string;
  complete: true;
};

type BatchOptions = RequestQueueOperationOptions & { maxNewRequests?: number };
type Sources = Iterable<RequestSource> | AsyncIterable<RequestSource>;

/** What is known once the response is there. */
export type ContextResponse = {
  response: PlainResponse;
  body: string | Buffer;
  json: unknown;
  contentType: { type: string; encoding: BufferEncoding };
};

/**
 * Crawlee's crawling context. What a handler writes through it is kept in `work` and committed with the request's
 * acknowledgement. Functions are getters, so that they can be destructured and cost nothing unless used.
 */
export class JsonContext {
  readonly crawler: unknown;
  readonly request: Request;
  readonly session: Session | undefined;
  readonly proxyInfo: ProxyInfo | undefined;
  response: PlainResponse | undefined;
  body: string | Buffer | undefined;
  json: unknown;
  contentType: ContextResponse['contentType'] | undefined;
  readonly #host: ContextHost;
  readonly #work: PendingWork;
  readonly #crawlSignal: AbortSignal;
  #controller: AbortController | null = null;
  #signal: AbortSignal | null = null;
  #timeout: Error | null = null;

  /** @param options.signal aborted when the crawl ends */
  constructor(options: {
    host: ContextHost;
    work: PendingWork;
    request: Request;
    session: Session | undefined;
    proxyInfo: ProxyInfo | undefined;
    signal: AbortSignal;
  }) {
    this.#host = options.host;
    this.#work = options.work;
    this.#crawlSignal = options.signal;
    this.crawler = options.host.crawler;
    this.request = options.request;
    this.session = options.session;
    this.proxyInfo = options.proxyInfo;
  }

  /** Aborted when the handler has run out of time or the crawl ends. Made only when asked for. */
  get signal(): AbortSignal {
    if (this.#signal === null) {
      this.#controller = new AbortController();
      this.#signal = AbortSignal.any([this.#crawlSignal, this.#controller.signal]);
      if (this.#timeout !== null) this.#controller.abort(this.#timeout);
    }
    return this.#signal;
  }

  /** The handler has run out of time: it should stop, and what it still writes is dropped. */
  timeOut(error: Error): void {
    this.#timeout = error;
    this.#work.close();
    this.#controller?.abort(error);
  }

  /** The same for errorHandler and failedRequestHandler, whose writes are kept apart from the failed handler's. */
  withWork(work: PendingWork): JsonContext {
    const { request, session, proxyInfo } = this;
    const context = new JsonContext({
      host: this.#host,
      work,
      request,
      session,
      proxyInfo,
      signal: this.#crawlSignal,
    });
    // Whatever else hooks have put on it.
    return Object.assign(context, this);
  }

  get id(): string {
    return this.request.id ?? this.request.uniqueKey;
  }

  get log(): unknown {
    return this.#host.log;
  }

  setResponse(response: ContextResponse): void {
    Object.assign(this, response);
  }

  get pushData() {
    return async (data: unknown, datasetIdOrName?: string): Promise<void> => {
      const dataset = datasetIdOrName ?? this.#host.defaultDataset;
      for (const record of Array.isArray(data) ? data : [data]) this.#work.addRecord(dataset, record);
    };
  }

  get addRequests() {
    return async (requests: Sources, options: BatchOptions = {}) => {
      const sources: RequestSource[] = [];
      for await (const source of requests) {
        if (await this.#isTooDeep(source)) continue;
        await this.#host.validateUserData(source);
        sources.push(source);
      }
      const result = this.#buffer(sources, { ...options, maxNewRequests: this.#host.roomFor(options.maxNewRequests) });
      for (const source of result.requestsOverLimit) await this.#host.skipped({ url: urlOf(source), reason: 'limit' });
      return result;
    };
  }

  get enqueueLinks() {
    return (options: Dictionary = {}): Promise<unknown> =>
      this.#host.enqueueLinks(options, this.request, {
        addRequestsBatched: async (requests: Iterable<RequestSource>, batchOptions: BatchOptions) =>
          this.#buffer([...requests], batchOptions),
      });
  }

  /** Crawlee reports those, and drops them. */
  async #isTooDeep(source: RequestSource): Promise<boolean> {
    const { maxCrawlDepth } = this.#host;
    if (maxCrawlDepth === undefined) return false;
    const own = typeof source === 'string' ? undefined : (source.crawlDepth as number | undefined);
    if ((own || this.request.crawlDepth + 1) <= maxCrawlDepth) return false;
    await this.#host.skipped({ url: urlOf(source), reason: 'depth' });
    return true;
  }

  get useState() {
    return async <State extends Dictionary>(defaultValue?: State): Promise<State> => {
      const state = await this.#host.useState(defaultValue ?? ({} as State));
      this.#host.markStateUsed(this.#work);
      return state;
    };
  }

  get sendRequest(): unknown {
    return this.#host.sendRequestFor(this.request, this.session, this.proxyInfo?.url);
  }

  get getKeyValueStore() {
    return (idOrName?: string): Promise<unknown> => this.#host.openKeyValueStore(idOrName);
  }

  get parseWithCheerio() {
    return async (): Promise<never> => {
      throw new Error('millrace reads JSON and has no parseWithCheerio: use CheerioCrawler for HTML');
    };
  }

  get waitForSelector() {
    return this.parseWithCheerio;
  }

  /** Requests found here are added with the acknowledgement; whether they were new is known only then. */
  #buffer(sources: readonly RequestSource[], options: BatchOptions) {
    const limit = options.maxNewRequests ?? Number.POSITIVE_INFINITY;
    const taken = sources.slice(0, limit === Number.POSITIVE_INFINITY ? undefined : limit);
    const added = taken.map((source) => fromSource(source, this.request.crawlDepth + 1));
    for (const request of added) this.#work.addRequest(options.forefront ? { ...request, forefront: true } : request);
    return {
      addedRequests: added.map(asProcessed),
      requestsOverLimit: sources.slice(taken.length),
      waitForAllRequestsToBeAdded: Promise.resolve([]),
    };
  }
}

function urlOf(source: RequestSource): string {
  return typeof source === 'string' ? source : source.url!;
}

function asProcessed(request: NewRequest) {
  return {
    requestId: request.uniqueKey,
    uniqueKey: request.uniqueKey,
    wasAlreadyPresent: false,
    wasAlreadyHandled: false,
  };
}
