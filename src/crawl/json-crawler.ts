import { KeyValueStore, MissingRouteError } from '@crawlee/core';
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
import type { HttpClient } from '../http/client.ts';
import { toCrawleeHttpClient } from '../http/crawlee-http-client.ts';
import type { ContextHost } from './context-host.ts';
import { CrawleeRequestManager } from './crawlee-request-manager.ts';
import { DispatchPool } from './dispatch-pool.ts';
import type { Job } from './job.ts';
import type { JsonContext } from './json-context.ts';
import { LoadMonitor } from './load-monitor.ts';
import { MemoryGuard } from './memory-guard.ts';
import type { RequestSource } from './new-request.ts';
import type { CrawlParts } from './parts.ts';
import type { PendingWork } from './pending-work.ts';
import type { PlainList } from './plain-list.ts';
import { asError, RequestRunner } from './request-runner.ts';
import { sendRequestOf } from './send-request.ts';
import { Settler } from './settler.ts';
import { SharedState } from './shared-state.ts';
import { Transport } from './transport.ts';
import type { UserCode } from './user-code.ts';

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
};

/** So many units of work may wait for the store before new requests do. */
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
  readonly #hasOwnHandler: boolean;
  /** Whether `crawler.router` has any handler: asking it without one costs an exception a request. */
  #isRouterUsed = false;
  readonly #load: LoadMonitor;
  readonly #memory: MemoryGuard;
  readonly #state: SharedState;
  readonly #runner: RequestRunner;
  readonly #settler: Settler;
  #pool: DispatchPool | null = null;
  #sigintListeners: readonly unknown[] = [];
  #started = 0;

  constructor(parts: JsonCrawlerParts, options: JsonCrawlerOptions = {}, config?: Configuration) {
    const manager = new CrawleeRequestManager({
      queue: parts.queue,
      onUnsent: (taken) => parts.gate.cancel(taken.key, parts.ports.clock.nowMs()),
    });
    const full: HttpCrawlerOptions<HttpCrawlingContext> = {
      ...options,
      // Crawlee 3.18 rejects `requestManager`, which its own types have; as requestQueue it takes any manager.
      requestQueue: manager as unknown as RequestQueue,
      httpClient: toCrawleeHttpClient(parts.httpClient),
    };
    super(full, config);
    this.#parts = parts;
    this.#manager = manager;
    this.#hasOwnHandler = options.requestHandler !== undefined;
    this.#watchRouter();
    this.#load = new LoadMonitor(parts.ports.clock);
    this.#memory = new MemoryGuard();
    this.#state = new SharedState(parts.store.values);
    const user = this.#userCode(options);
    const transport = new Transport({
      parts,
      load: this.#load,
      giveSlotBack: () => this.#freeSlot(),
      takeSlotAgain: async () => this.#pool?.takeSlot(),
    });
    const { plain, signal } = parts;
    this.#runner = new RequestRunner({ parts, transport, user, contextHost: this.#contextHost(), plain, signal });
    this.#settler = new Settler({ parts, plain, user, runner: this.#runner, state: this.#state, stats: this.stats });
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

  /** Ends the crawl with an error: the store refuses, say. */
  fail(error: unknown): void {
    this.#pool?.fail(error);
  }

  override async useState<State extends Dictionary>(defaultValue: State = {} as State): Promise<State> {
    return this.#state.use(defaultValue);
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
    this.#sigintListeners = process.listeners('SIGINT');
  }

  override async teardown(): Promise<void> {
    this.#load.stop();
    await this.#state.save();
    await super.teardown();
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
    if (this.unexpectedStop || this.#isLimitReached() || this.#parts.queue.backlog >= MOST_BACKLOG) return false;
    const taken = this.#parts.queue.take();
    if (taken === null) return false;
    this.#started += 1;
    const pool = this.#pool!;
    pool.begin();
    const job = this.#runner.open(taken);
    this.#work(job).then(
      () => pool.end(),
      (error: unknown) => {
        pool.fail(error);
        pool.end();
      },
    );
    return true;
  }

  /** Requests under way count: the limit is one of requests, not of answers. */
  #isLimitReached(): boolean {
    const { maxRequestsPerCrawl } = this;
    if (maxRequestsPerCrawl === undefined) return false;
    return this.handledRequestsCount + (this.#pool?.running ?? 0) >= maxRequestsPerCrawl;
  }

  async #work(job: Job): Promise<void> {
    let goesAgain = false;
    try {
      goesAgain = (await this.#runner.run(job)) === 'again';
      if (!goesAgain) this.#settler.onAttempt(job);
    } catch (error) {
      this.#settler.onAttempt(job);
      this.#freeSlot();
      return this.#settler.settleFailure(job, asError(error));
    }
    if (goesAgain) this.#parts.queue.putBack(job.leased);
    this.#freeSlot();
    if (!goesAgain) await this.#settler.settleSuccess(job);
  }

  #freeSlot(): void {
    this.#pool?.freeSlot();
    this.#pool?.pump();
  }

  #userCode(options: JsonCrawlerOptions): UserCode {
    // The first of HttpCrawler's own hooks aborts downloads by MIME type: a body is JSON whatever its type says.
    const [, ...postNavigationHooks] = this.postNavigationHooks as unknown as UserCode['postNavigationHooks'];
    return {
      preNavigationHooks: (options.preNavigationHooks ?? []) as unknown as UserCode['preNavigationHooks'],
      postNavigationHooks,
      handlerFor: (request) => this.#handlerFor(request),
      errorHandler: (options.errorHandler as unknown as UserCode['errorHandler']) ?? null,
      failedRequestHandler: (options.failedRequestHandler as unknown as UserCode['failedRequestHandler']) ?? null,
      maxRequestRetries: options.maxRequestRetries ?? null,
      maxSessionRotations: options.maxSessionRotations ?? 10,
      handlerTimeoutMs:
        options.requestHandlerTimeoutSecs === undefined ? null : options.requestHandlerTimeoutSecs * 1000,
      isErrorStatus: (status) => this.#isErrorStatus(status),
    };
  }

  #isErrorStatus(status: number): boolean {
    if (this.ignoreHttpErrorStatusCodes.has(status)) return false;
    return status >= 400 || this.additionalHttpErrorStatusCodes.has(status);
  }

  #watchRouter(): void {
    const { router } = this;
    for (const name of ['addHandler', 'addDefaultHandler'] as const) {
      const add = router[name] as (...args: unknown[]) => void;
      Object.assign(router, {
        [name]: (...args: unknown[]) => {
          this.#isRouterUsed = true;
          add(...args);
        },
      });
    }
  }

  #handlerFor(request: Request): ((context: JsonContext) => unknown) | null {
    const handler = this.requestHandler as unknown as ((context: JsonContext) => unknown) & {
      getHandler?: (label: string | undefined) => unknown;
    };
    if (!this.#hasOwnHandler && !this.#isRouterUsed) return null;
    if (typeof handler.getHandler !== 'function') return handler;
    try {
      handler.getHandler(request.label);
      return handler;
    } catch (error) {
      if (!(error instanceof MissingRouteError)) throw error;
      if (this.#hasOwnHandler && this.#parts.plain === null) throw error;
      return null;
    }
  }

  #contextHost(): ContextHost {
    return {
      crawler: this,
      log: this.log,
      defaultDataset: this.#parts.settings.defaultDataset,
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
