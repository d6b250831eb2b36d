import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type DatasetExportOptions, KeyValueStore } from '@crawlee/core';
import {
  type Configuration,
  type Dictionary,
  HttpCrawler,
  type HttpCrawlerOptions,
  type HttpCrawlingContext,
  type Request,
  type RequestQueue,
  type Session,
} from '@crawlee/http';
import { messageOf } from '../core/errors.ts';
import { exportDataset } from '../export/export-dataset.ts';
import { type ExportFormat, formatOf } from '../export/export-format.ts';
import { rowsByPage } from '../export/rows.ts';
import type { HttpClient } from '../http/client.ts';
import { toCrawleeHttpClient } from '../http/crawlee-http-client.ts';
import type { NewRequest } from '../storage/store.ts';
import type { ContextHost } from './context-host.ts';
import { CrawleeRequestManager } from './crawlee-request-manager.ts';
import { DispatchPool } from './dispatch-pool.ts';
import { GrantLine } from './grant-line.ts';
import type { Job } from './job.ts';
import { LoadMonitor } from './load-monitor.ts';
import { MemoryGuard } from './memory-guard.ts';
import type { RequestSource } from './new-request.ts';
import { PacedClient } from './paced-client.ts';
import type { CrawlParts } from './parts.ts';
import type { PendingWork } from './pending-work.ts';
import type { PlainList } from './plain-list.ts';
import { RequestBuilder } from './request-builder.ts';
import { asError, RequestRunner } from './request-runner.ts';
import { sendRequestOf } from './send-request.ts';
import { Settler } from './settler.ts';
import { SharedState } from './shared-state.ts';
import { Transport } from './transport.ts';
import { Turns } from './turns.ts';
import type { UserCode } from './user-code.ts';
import { UserHandlers } from './user-handlers.ts';

/** Crawlee's options, without those that millrace's own parts replace. */
export type JsonCrawlerOptions = Omit<
  HttpCrawlerOptions<HttpCrawlingContext>,
  'requestQueue' | 'requestList' | 'requestManager' | 'httpClient' | 'sameDomainDelaySecs' | 'respectRobotsTxtFile'
>;

export type JsonCrawlerParts = CrawlParts & {
  /** How requests without a label and without a handler of the user's are recorded; null = they fail. */
  plain: PlainList | null;
  /** For Crawlee's own `sendRequest`. */
  httpClient: HttpClient;
  /** Aborted when requests in flight must end now: they stay pending. */
  signal: AbortSignal;
  /** Called once a second while the crawl runs. */
  onTick: () => void;
  /** Told of requests that the user adds while nothing runs. */
  onStartUrls?: ((requests: readonly NewRequest[]) => void) | undefined;
  /** Called when a run begins; what it returns is called when it has ended, once. */
  onRun?: (() => Promise<() => Promise<void>>) | undefined;
};

/** So many requests may wait for the store, or for the host a redirect leads to, before new ones do. */
const MOST_BACKLOG = 2_000;

/**
 * Crawlee's HttpCrawler with millrace's queue, governor, client and transactions in place of its own. What differs in
 * behaviour is in docs/crawlee.md; what is overridden here, and why:
 * - the pool (`_init`): AutoscaledPool admits one task per event loop turn and climbs for minutes (see DispatchPool);
 * - the task (`RequestRunner`): `_runTaskFunction` and `_runRequestHandler` cost 300 to 400 microseconds a request in
 *   validators, time-outs, stack traces, streams and storage calls; 40 to 60 are left.
 */
export class JsonCrawler extends HttpCrawler<HttpCrawlingContext> {
  readonly #parts: JsonCrawlerParts;
  readonly #manager: CrawleeRequestManager;
  readonly #handlers: UserHandlers;
  readonly #load: LoadMonitor;
  readonly #turns = new Turns();
  readonly #memory: MemoryGuard;
  readonly #state: SharedState;
  readonly #runner: RequestRunner;
  readonly #settler: Settler;
  #pool: DispatchPool | null = null;
  #sigintListeners: readonly unknown[] = [];
  #endRun: (() => Promise<void>) | null = null;

  constructor(parts: JsonCrawlerParts, options: JsonCrawlerOptions = {}, config?: Configuration) {
    const manager = new CrawleeRequestManager({
      queue: parts.queue,
      onUnsent: (taken) => parts.gate.cancel(taken.key, parts.ports.clock.nowMs()),
      onAdded: (requests) => {
        if (!this.#isDispatching) parts.onStartUrls?.(requests);
      },
    });
    const builder = new RequestBuilder(parts);
    const grants = new GrantLine({ gate: parts.gate, clock: parts.ports.clock });
    const full: HttpCrawlerOptions<HttpCrawlingContext> = {
      ...options,
      // Crawlee 3.18 rejects `requestManager`, which its own types have; as requestQueue it takes any manager.
      requestQueue: manager as unknown as RequestQueue,
      httpClient: toCrawleeHttpClient(new PacedClient({ parts, grants, builder })),
      // Its own pool is one for all hosts; ours stands in for it.
      useSessionPool: false,
      persistCookiesPerSession: undefined,
    };
    super(full, config);
    this.sessionPool = parts.sessions.crawleePool;
    this.#parts = parts;
    this.#manager = manager;
    this.#handlers = new UserHandlers({
      hasOwn: options.requestHandler !== undefined,
      current: () => this.requestHandler as never,
      router: this.router,
    });
    this.#load = new LoadMonitor(parts.ports.clock);
    this.#memory = new MemoryGuard();
    this.#state = new SharedState(parts.store.values);
    const user = this.#userCode(options);
    const transport = new Transport({
      parts,
      load: this.#load,
      grants,
      giveSlotBack: () => this.#freeSlot(),
      takeSlotAgain: () => this.#pool?.takeSlot(),
    });
    const { plain, signal } = parts;
    const contextHost = this.#contextHost();
    this.#runner = new RequestRunner({ parts, transport, builder, user, contextHost, plain, signal });
    this.#settler = new Settler({
      parts,
      plain,
      user,
      runner: this.#runner,
      state: this.#state,
      stats: this.stats,
      onCommitted: (added, isHandled) => manager.committed(added, isHandled),
    });
    parts.queue.onReady = () => this.#pool?.pump();
  }

  /** Handled and total requests, as the store counts them; for Crawlee's own messages and limits. */
  setCounts(counts: { total: number; handled: number }): void {
    this.#manager.setCounts(counts);
  }

  /** Requests that hold a slot now. */
  get inFlight(): number {
    return this.#pool?.currentConcurrency ?? 0;
  }

  /** Whether it has handled as many requests as maxRequestsPerCrawl allows. */
  get hasReachedItsLimit(): boolean {
    return this.maxRequestsPerCrawl !== undefined && this.handledRequestsCount >= this.maxRequestsPerCrawl;
  }

  /** Ends the crawl with an error: the store refuses, say. */
  fail(error: unknown): void {
    this.#pool?.fail(error);
  }

  override async useState<State extends Dictionary>(defaultValue: State = {} as State): Promise<State> {
    return this.#state.use(defaultValue);
  }

  /**
   * Writes the crawl's own dataset to a file, the same that `millrace export` writes.
   * @param format when the file's name does not tell; all of `millrace export` are possible
   * @returns all items, as Crawlee does: for a dataset that does not fit into memory there is `millrace export`
   * @throws UsageError when neither tells the format; EnvironmentError when the file cannot be written
   */
  override async exportData<Data extends Dictionary>(
    path: string,
    format?: ExportFormat,
    options: DatasetExportOptions = {},
  ): Promise<Data[]> {
    if (options.desc) throw new TypeError('exportData writes items in the order they came: desc is not possible');
    const { store, settings } = this.#parts;
    const dataset = settings.defaultDataset;
    const rows = rowsByPage((page) => store.datasets.page(dataset, page));
    await mkdir(dirname(path), { recursive: true });
    await exportDataset({
      ...formatOf(path, format ?? null),
      rows,
      columns: () => store.datasets.columns(dataset),
      destination: { path, force: true },
    });
    this.log.info(`Export to ${path} finished!`);
    const items: Data[] = [];
    for await (const batch of rows()) for (const { json } of batch) items.push(JSON.parse(json) as Data);
    return items;
  }

  /** Begins nothing new; the run ends when what is under way has ended. */
  override stop(reason?: string): void {
    super.stop(reason);
    this.#pool?.pump();
  }

  /** Begins nothing new and waits until nothing is under way, be the run itself over or not. */
  async whenIdle(): Promise<void> {
    await this.#pool?.pause();
  }

  /** A request was skipped because of robots.txt. */
  skipped(url: string): void {
    this.handleSkippedRequest({ url, reason: 'robotsTxt' }).catch((error: unknown) =>
      this.#parts.ports.log.error('onSkippedRequest has thrown', { url, reason: messageOf(error) }),
    );
  }

  protected override async _init(): Promise<void> {
    await super._init();
    const clock = this.#parts.ports.clock;
    this.#pool = new DispatchPool(this.autoscaledPoolOptions, this.config, {
      clock,
      maxConcurrency: this.autoscaledPoolOptions.maxConcurrency ?? this.#parts.settings.maxConcurrency,
      startOne: () => this.#startOne(),
      isFinished: async () => (await this.autoscaledPoolOptions.isFinishedFunction?.()) ?? false,
      onStart: () => this.#dropCrawleesSigintHandler(),
      onTick: () => this.#onTick(),
      isShortOfMemory: () => this.#memory.isShort,
    });
    this.autoscaledPool = this.#pool;
    this.#load.start();
    this.#endRun = (await this.#parts.onRun?.()) ?? null;
    this.#sigintListeners = process.listeners('SIGINT');
  }

  override async teardown(): Promise<void> {
    this.#load.stop();
    const endRun = this.#endRun;
    this.#endRun = null;
    try {
      await this.#state.save();
      await super.teardown();
    } finally {
      // Whatever cannot be saved, on a full disk say: who waits for the end must not wait for ever.
      await endRun?.();
    }
  }

  get #isDispatching(): boolean {
    return this.#pool?.isActive ?? false;
  }

  protected override async _defaultIsFinishedFunction(): Promise<boolean> {
    return this.#parts.queue.isFinished();
  }

  #onTick(): void {
    this.#memory.look();
    this.#parts.onTick();
  }

  // BasicCrawler.run installs one that waits 20 s and advises another way to resume; signals are the process's edge.
  #dropCrawleesSigintHandler(): void {
    for (const listener of process.listeners('SIGINT')) {
      if (!this.#sigintListeners.includes(listener)) process.off('SIGINT', listener);
    }
  }

  #startOne(): boolean {
    const pool = this.#pool!;
    if (this.unexpectedStop || this.#isLimitReached() || pool.waiting >= MOST_BACKLOG) return false;
    const taken = this.#parts.queue.take();
    if (taken === null) return false;
    pool.begin();
    const job = this.#runner.open(taken);
    this.#work(job).then(
      () => this.#end(job),
      (error: unknown) => {
        pool.fail(error);
        this.#end(job);
      },
    );
    return true;
  }

  #end(job: Job): void {
    job.endSuspicion?.();
    this.#pool?.end();
  }

  /** Requests under way count: the limit is one of requests, not of answers. */
  #isLimitReached(): boolean {
    const { maxRequestsPerCrawl } = this;
    if (maxRequestsPerCrawl === undefined) return false;
    return this.handledRequestsCount + (this.#pool?.running ?? 0) >= maxRequestsPerCrawl;
  }

  async #work(job: Job): Promise<void> {
    let end: 'handled' | 'again' | 'later';
    try {
      end = await this.#attempt(job);
      if (end === 'handled') this.#settler.onAttempt(job);
    } catch (error) {
      this.#countStatus(job);
      this.#settler.onAttempt(job);
      this.#freeSlotOf(job);
      return this.#settler.settleFailure(job, asError(error));
    }
    this.#countStatus(job);
    if (end === 'again') this.#parts.queue.putBack(job.leased);
    this.#freeSlotOf(job);
    if (end === 'handled') await this.#settler.settleSuccess(job);
    if (end === 'later') await this.#settler.defer(job);
  }

  /** The next request goes out before the answer to this one is worked on: at 4,000 requests/s that fills 3 % of slots. */
  async #attempt(job: Job): Promise<'handled' | 'again' | 'later'> {
    const end = await this.#runner.run(job);
    if (typeof end === 'string') return end;
    if (!this.#runner.runsUserCode(job)) {
      this.#freeSlotOf(job);
      await this.#turns.next();
    }
    await this.#runner.handle(job, end);
    return 'handled';
  }

  #countStatus({ response }: Job): void {
    if (response !== null && response.status >= 400) this.stats.registerStatusCode(response.status);
  }

  #freeSlotOf(job: Job): void {
    if (!job.holdsSlot) return;
    job.holdsSlot = false;
    this.#freeSlot();
  }

  #freeSlot(): void {
    this.#pool?.freeSlot();
    this.#pool?.pump();
  }

  #userCode(options: JsonCrawlerOptions): UserCode {
    // The first of HttpCrawler's own hooks aborts downloads by MIME type: a body is JSON whatever its type says.
    const [, ...postNavigationHooks] = this.postNavigationHooks as unknown as UserCode['postNavigationHooks'];
    const { proxyConfiguration } = options;
    return {
      preNavigationHooks: (options.preNavigationHooks ?? []) as unknown as UserCode['preNavigationHooks'],
      postNavigationHooks,
      handlerFor: (request) => this.#handlers.find(request),
      knownLabels: () => this.#handlers.labels,
      newProxyInfo: proxyConfiguration
        ? (sessionId, request) => proxyConfiguration.newProxyInfo(sessionId, { request })
        : null,
      takesType: (type) => isOneOf(type, options.additionalMimeTypes ?? []),
      staysInStrategy: (request) => this.requestMatchesEnqueueStrategy(request),
      internalTimeoutMs: this.internalTimeoutMillis,
      errorHandler: (options.errorHandler as unknown as UserCode['errorHandler']) ?? null,
      failedRequestHandler: (options.failedRequestHandler as unknown as UserCode['failedRequestHandler']) ?? null,
      maxRequestRetries: options.maxRequestRetries ?? null,
      maxSessionRotations: options.maxSessionRotations ?? 10,
      handlerTimeoutMs:
        options.requestHandlerTimeoutSecs === undefined ? null : options.requestHandlerTimeoutSecs * 1000,
      isErrorStatus: (status) => this.#isErrorStatus(status),
      wantsStatus: (status) => this.ignoreHttpErrorStatusCodes.has(status),
    };
  }

  #isErrorStatus(status: number): boolean {
    if (this.ignoreHttpErrorStatusCodes.has(status)) return false;
    return status >= 400 || this.additionalHttpErrorStatusCodes.has(status);
  }

  #contextHost(): ContextHost {
    return {
      crawler: this,
      log: this.log,
      defaultDataset: this.#parts.settings.defaultDataset,
      maxCrawlDepth: this.maxCrawlDepth,
      roomFor: (limit) => this.calculateEnqueuedRequestLimit(limit),
      skipped: (facts) => this.handleSkippedRequest(facts),
      validateUserData: (source: RequestSource) => this.validateRequestUserData(source as never),
      enqueueLinks: (options, request, queue) =>
        this.enqueueLinksWithCrawlDepth(options as never, request, queue as unknown as RequestQueue),
      useState: (defaultValue) => this.#state.use(defaultValue),
      markStateUsed: (work: PendingWork) => this.#state.markUsed(work),
      sendRequestFor: (request: Request, session: Session | undefined, proxyUrl: string | undefined) =>
        sendRequestOf(this.httpClient, { request, session, proxyUrl }),
      openKeyValueStore: (idOrName) => KeyValueStore.open(idOrName, { config: this.config }),
    };
  }
}

/** Whether a content type is among those the user takes though they are no JSON. */
function isOneOf(type: string, types: readonly string[]): boolean {
  return types.some((other) => other === '*/*' || other.split(';', 1)[0]!.trim().toLowerCase() === type);
}
