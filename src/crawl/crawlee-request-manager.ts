import type { IRequestManager, Request, RequestQueueOperationOptions, Source } from '@crawlee/core';
import type { HostAwareQueue } from '../queue/host-aware-request-manager.ts';
import type { Taken } from '../queue/host-scheduler.ts';
import type { AddResult, NewRequest, UnitOfWork } from '../storage/store.ts';
import { dataOf, openRequest, type RequestPatch } from './lean-request.ts';
import { fromSource, type RequestSource } from './new-request.ts';

type BatchedOptions = RequestQueueOperationOptions & { batchSize?: number; maxNewRequests?: number };

const BATCH_SIZE = 1_000;

/**
 * The queue as Crawlee knows it: for `crawler.addRequests`, `crawler.run(requests)` and user code that holds a
 * request manager. The crawl loop itself talks to the queue.
 */
export class CrawleeRequestManager implements IRequestManager {
  /** Crawlee drops and reopens a queue of the name "default" when a crawler is run again. */
  readonly name = 'millrace';
  /** Set by BasicCrawler; leases are renewed, so they are not used. */
  requestLockSecs = 0;
  internalTimeoutMillis = 0;
  readonly #queue: HostAwareQueue;
  readonly #onUnsent: (taken: Taken) => void;
  readonly #onAdded: (requests: readonly NewRequest[]) => void;
  readonly #taken = new Map<string, Taken>();
  #total = 0;
  #handled = 0;

  /**
   * @param options.onUnsent a request was handed out by `fetchNextRequest`: its grant is not needed
   * @param options.onAdded told of what is about to be added
   */
  constructor(options: {
    queue: HostAwareQueue;
    onUnsent: (taken: Taken) => void;
    onAdded: (requests: readonly NewRequest[]) => void;
  }) {
    this.#queue = options.queue;
    this.#onUnsent = options.onUnsent;
    this.#onAdded = options.onAdded;
  }

  /** A request's work was committed, with so many requests that were new. */
  committed(added: number, isHandled: boolean): void {
    this.#total += added;
    if (isHandled) this.#handled += 1;
  }

  /** What the store counts, told by the crawler whenever it looks. */
  setCounts(counts: { total: number; handled: number }): void {
    this.#total = counts.total;
    this.#handled = counts.handled;
  }

  async isFinished(): Promise<boolean> {
    return this.#queue.isFinished();
  }

  async isEmpty(): Promise<boolean> {
    return this.#queue.isEmpty();
  }

  async handledCount(): Promise<number> {
    return this.#handled;
  }

  getTotalCount(): number {
    return this.#total;
  }

  getPendingCount(): number {
    return this.#total - this.#handled;
  }

  async fetchNextRequest<T extends Record<string, unknown>>(): Promise<Request<T> | null> {
    const taken = this.#queue.take();
    if (taken === null) return null;
    this.#onUnsent(taken);
    this.#taken.set(taken.request.id, taken);
    return openRequest(taken.request).request as Request<T>;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Request> {
    for (let next = await this.fetchNextRequest(); next !== null; next = await this.fetchNextRequest()) yield next;
  }

  async markRequestHandled(request: Request): Promise<null> {
    await this.#settle(request, { kind: 'handled', result: 'succeeded', reason: null, patch: null });
    return null;
  }

  async reclaimRequest(request: Request, options: { forefront?: boolean } = {}): Promise<null> {
    const patch: RequestPatch = {
      retryCount: request.retryCount,
      errorMessages: request.errorMessages,
      data: dataOf(request) ?? {},
    };
    const forefront = options.forefront ?? false;
    await this.#settle(request, { kind: 'retry', notBeforeMs: null, patch: JSON.stringify(patch), forefront });
    return null;
  }

  async addRequest(source: RequestSource, options: RequestQueueOperationOptions = {}) {
    const request = fromSource(source);
    const [result] = await this.#add([request], options.forefront);
    return { ...asOperationInfo(request, result!), forefront: options.forefront ?? false };
  }

  async addRequestsBatched(
    sources: Iterable<RequestSource> | AsyncIterable<RequestSource>,
    options: BatchedOptions = {},
  ) {
    const limit = options.maxNewRequests ?? Number.POSITIVE_INFINITY;
    const addedRequests: ReturnType<typeof asOperationInfo>[] = [];
    const requestsOverLimit: Source[] = [];
    let added = 0;
    for await (const batch of batches(sources, options.batchSize ?? BATCH_SIZE)) {
      const room = Math.max(0, limit - added);
      const taken = room < batch.length ? batch.slice(0, room) : batch;
      requestsOverLimit.push(...batch.slice(taken.length).map(asSource));
      const requests = taken.map((source) => fromSource(source));
      const results = await this.#add(requests, options.forefront);
      added += results.filter((result) => !result.wasAlreadyPresent).length;
      addedRequests.push(...requests.map((request, index) => asOperationInfo(request, results[index]!)));
    }
    return { addedRequests, requestsOverLimit, waitForAllRequestsToBeAdded: Promise.resolve([]) };
  }

  async #add(requests: readonly NewRequest[], forefront = false): Promise<AddResult[]> {
    if (requests.length === 0) return [];
    this.#onAdded(requests);
    const results = await this.#queue.add(requests, { forefront });
    this.#total += results.filter((result) => !result.wasAlreadyPresent).length;
    return results;
  }

  async #settle(request: Request, outcome: UnitOfWork['outcome']): Promise<void> {
    const taken = this.#taken.get(request.id!);
    // Crawlee asks again after a time-out: the first answer stands.
    if (taken === undefined) return;
    this.#taken.delete(request.id!);
    await this.#queue.settle({
      lease: taken.request.lease,
      outcome,
      records: [],
      requests: [],
      values: [],
      columns: [],
    });
    if (outcome.kind === 'handled') this.#handled += 1;
  }
}

function asSource(source: RequestSource): Source {
  return typeof source === 'string' ? { url: source } : source;
}

function asOperationInfo(request: NewRequest, result: AddResult) {
  return {
    requestId: result.id,
    uniqueKey: request.uniqueKey,
    wasAlreadyPresent: result.wasAlreadyPresent,
    wasAlreadyHandled: result.wasAlreadyHandled,
  };
}

async function* batches<T>(items: Iterable<T> | AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
