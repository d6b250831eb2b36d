import type { Clock } from '../core/clock.ts';
import type {
  AddResult,
  CommitResult,
  Lease,
  LeasedRequest,
  NewRequest,
  QueueStore,
  UnitOfWork,
} from '../storage/store.ts';
import { Committer } from './committer.ts';
import { HostScheduler, type Taken } from './host-scheduler.ts';
import type { Gate, RobotsGate } from './ports.ts';

export type QueueOptions = {
  store: QueueStore;
  gate: Gate;
  robots: RobotsGate;
  clock: Clock;
  /** Slots to keep busy: sizes what is kept at hand. */
  maxConcurrency: number;
  /** How long a request may be worked on without a sign of life, ms. */
  leaseMs: number;
  /** While every host with work has enough at hand, others are looked for this often, ms; a claim has to be cheap. */
  satedRecheckMs?: number;
  /** What a skipped request leaves behind. */
  rowsOfSkipped: (request: LeasedRequest, reason: string) => Pick<UnitOfWork, 'records' | 'columns'>;
  onSkipped: (request: LeasedRequest, reason: string) => void;
  onGivenUp: (host: string, reason: string) => void;
  /** The store refused a write: the crawl cannot go on. */
  onFatal: (error: unknown) => void;
};

/** At hand: a few rounds of all slots, so that a claim is always a batch. */
const LEAST_BATCH = 200;
const LARGEST_BATCH = 1_000;
/** However many hosts wait with something at hand: bounds memory. */
const MOST_AT_HAND = 50_000;
const NEVER = -1;
/** With many hosts, so few of each that all get their turn. */
const LEAST_PER_HOST = 16;
/** While every host with work has enough at hand, look again for others this often. */
const SATED_RECHECK_MS = 50;
/** Other workers of a shared run may add or free requests without telling: look this often. */
const IDLE_RECHECK_MS = 500;

/**
 * The request queue of a run as the crawl loop sees it: leases requests from the store in batches, fair by host,
 * hands out those that may be sent now, and commits what became of them.
 */
export class HostAwareQueue {
  readonly #store: QueueStore;
  readonly #clock: Clock;
  readonly #options: QueueOptions;
  readonly #scheduler: HostScheduler;
  readonly #committer: Committer;
  readonly #held = new Map<number, Lease>();
  readonly #givenUp = new Map<string, string>();
  readonly #batchSize: number;
  readonly #satedRecheckMs: number;
  #onReady: () => void = () => {};
  #sourcesOpen = 0;
  #claiming: Promise<void> | null = null;
  #claimingSinceMs = 0;
  /** Monotonic time before which a claim is of no use; Infinity = until something is added. */
  #claimNotBeforeMs = 0;
  /** So few at hand that a claim is of use before that time: the hosts that had enough have gone on. */
  #claimAtSize = NEVER;
  /** The last claim came back empty and nothing waits for a time, other than for hosts given up or sated. */
  #nothingToClaim = false;
  /** Epoch ms at which the next request that waits in the store is due. */
  #storeDueAtMs: number | null = null;
  #cancelWake: (() => void) | null = null;
  #wakeAtMs = 0;
  #cancelRenewal: () => void;
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#clock = options.clock;
    this.#satedRecheckMs = options.satedRecheckMs ?? SATED_RECHECK_MS;
    this.#batchSize = Math.min(LARGEST_BATCH, Math.max(LEAST_BATCH, 4 * options.maxConcurrency));
    this.#scheduler = new HostScheduler({
      gate: options.gate,
      robots: options.robots,
      onSkip: (request, rule) => this.#skip(request, rule),
      onGivenUp: (host, reason, left) => this.#giveUp(host, reason, left),
      onExcess: (left) => this.#giveBack(left),
      onDeferred: (left, untilMs) => this.#defer(left, untilMs),
      wake: () => this.#onReady(),
    });
    this.#committer = new Committer({
      store: options.store,
      clock: options.clock,
      onCommitted: (units, results) => this.#afterCommit(units, results),
    });
    this.#cancelRenewal = this.#scheduleRenewal();
  }

  /** Called whenever `take` may give something it did not give before. */
  set onReady(callback: () => void) {
    this.#onReady = callback;
  }

  /** Units of work not yet durable. */
  get backlog(): number {
    return this.#committer.backlog;
  }

  /** How long the oldest commit under way has been; 0 = none is. */
  get slowestCommitMs(): number {
    return this.#committer.slowestCommitMs;
  }

  /** How long the store has been asked for more while nothing is at hand: a ms or so, unless it is slow; null = it is not. */
  get storeWaitMs(): number | null {
    return this.#claiming === null || this.#scheduler.size > 0 ? null : this.#clock.nowMs() - this.#claimingSinceMs;
  }

  /** Leased requests: at hand or being worked on. */
  get leased(): number {
    return this.#held.size;
  }

  /** Hosts given up in this run, with the reason. */
  get givenUpHosts(): ReadonlyMap<string, string> {
    return this.#givenUp;
  }

  /** Monotonic time at which something may be sent, while nothing can be now; null when that is not known. */
  get nextReadyAtMs(): number | null {
    const atHandMs = this.#scheduler.nextDueAtMs;
    const inStoreMs =
      this.#storeDueAtMs === null ? null : this.#storeDueAtMs - this.#clock.wallMs() + this.#clock.nowMs();
    if (atHandMs === null || inStoreMs === null) return atHandMs ?? inStoreMs;
    return Math.min(atHandMs, inStoreMs);
  }

  /** A source of requests is still being read: the queue is not finished before it ends. */
  openSource(): () => void {
    this.#sourcesOpen += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#sourcesOpen -= 1;
      this.#onReady();
    };
  }

  async add(requests: readonly NewRequest[], options?: { forefront?: boolean }): Promise<AddResult[]> {
    const results = await this.#store.add(requests, options);
    if (results.every((result) => result.wasAlreadyPresent)) return results;
    if (options?.forefront) await this.#bringForward();
    else this.#mayClaim();
    return results;
  }

  /** @returns a request to send now; null when none may be sent: `onReady` tells when to ask again */
  take(): Taken | null {
    const nowMs = this.#clock.nowMs();
    const taken = this.#scheduler.take(nowMs);
    if (this.#wantsMore) this.#claimIfUseful(nowMs);
    if (taken === null) this.#scheduleWake(nowMs);
    return taken;
  }

  /** A request of the host has ended on the wire: whoever waited for its place may go. */
  released(host: string): void {
    this.#scheduler.released(host, this.#clock.nowMs());
  }

  /** The same request again as soon as its host may send; costs nothing and touches no store. */
  putBack(request: LeasedRequest): void {
    this.#scheduler.putBack(request, this.#clock.nowMs());
    this.#onReady();
  }

  /** Commits what became of a taken request. */
  async settle(unit: UnitOfWork): Promise<CommitResult> {
    try {
      return await this.#committer.submit(unit, unit.requests.length > 0 && this.#scheduler.available === 0);
    } finally {
      this.#held.delete(unit.lease.requestId);
    }
  }

  /** @returns whether all is done: nothing at hand, nothing to claim now or later, nothing on its way to the store */
  isFinished(): boolean {
    return (
      this.#sourcesOpen === 0 &&
      this.#held.size === 0 &&
      this.#committer.backlog === 0 &&
      this.#claiming === null &&
      this.#nothingToClaim
    );
  }

  /** @returns whether nothing is at hand */
  isEmpty(): boolean {
    return this.#scheduler.size === 0;
  }

  /** Commits what is on its way and gives the rest back to the store, untouched. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelWake?.();
    this.#cancelRenewal();
    await this.#claiming;
    await this.#committer.drain();
    this.#scheduler.drain();
    await this.#store.release([...this.#held.values()]);
    this.#held.clear();
  }

  /** Whether too little is at hand that could go now, though there may be much that waits. */
  get #wantsMore(): boolean {
    return this.#scheduler.available < this.#batchSize / 2 && this.#scheduler.size < MOST_AT_HAND;
  }

  #claimIfUseful(nowMs: number): void {
    if (this.#claiming !== null || this.#closed) return;
    if (nowMs < this.#claimNotBeforeMs && this.#scheduler.size > this.#claimAtSize) return;
    this.#claimingSinceMs = nowMs;
    this.#claiming = this.#claim().then(
      () => {
        this.#claiming = null;
        this.#onReady();
      },
      (error: unknown) => {
        this.#claiming = null;
        this.#options.onFatal(error);
      },
    );
  }

  async #claim(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const sated = this.#scheduler.satedHosts(nowMs, this.#batchSize);
    const skipHosts = sated;
    for (const host of this.#givenUp.keys()) skipHosts.add(host);
    const limit = this.#batchSize - this.#scheduler.available;
    this.#nothingToClaim = false;
    this.#claimNotBeforeMs = Number.POSITIVE_INFINITY;
    this.#claimAtSize = NEVER;
    const perHost = Math.max(LEAST_PER_HOST, Math.floor(limit / Math.max(1, this.#scheduler.activeHosts)));
    const { leaseMs } = this.#options;
    const claim = await this.#store.claim({ limit, perHost, skipHosts, leaseMs, claimsAgain: true });
    for (const request of claim.requests) this.#held.set(request.lease.requestId, request.lease);
    this.#scheduler.add(claim.requests, this.#clock.nowMs());
    this.#planNextClaim({ found: claim.requests.length, nextDueAtMs: claim.nextDueAtMs, sated: sated.size });
  }

  #planNextClaim(last: { found: number; nextDueAtMs: number | null; sated: number }): void {
    const nowMs = this.#clock.nowMs();
    this.#storeDueAtMs = last.nextDueAtMs;
    if (last.found > 0) {
      this.#claimNotBeforeMs = 0;
      return;
    }
    const isSatedOnly = last.sated > this.#givenUp.size;
    if (isSatedOnly) this.#claimAtSize = this.#scheduler.size - this.#batchSize / 4;
    if (last.nextDueAtMs !== null) {
      const waitMs = Math.max(1, last.nextDueAtMs - this.#clock.wallMs());
      // A clock that is stepped must not make us sleep for ever.
      this.#setClaimTime(nowMs + Math.min(waitMs, isSatedOnly ? this.#satedRecheckMs : IDLE_RECHECK_MS));
    } else if (isSatedOnly) {
      this.#setClaimTime(nowMs + this.#satedRecheckMs);
    } else if (this.#claimNotBeforeMs === Number.POSITIVE_INFINITY) {
      this.#nothingToClaim = true;
    }
  }

  #setClaimTime(atMs: number): void {
    this.#claimNotBeforeMs = Math.min(this.#claimNotBeforeMs, atMs);
  }

  #mayClaim(): void {
    this.#nothingToClaim = false;
    this.#claimNotBeforeMs = 0;
    this.#onReady();
  }

  #afterCommit(units: readonly UnitOfWork[], results: readonly CommitResult[]): void {
    const hasMore = units.some((unit, index) => unit.outcome.kind === 'retry' || results[index]!.added > 0);
    if (!hasMore) {
      this.#onReady();
      return;
    }
    this.#mayClaim();
    if (units.some((unit, index) => results[index]!.added > 0 && unit.requests.some(isForefront)))
      this.#bringForward().catch((error: unknown) => this.#options.onFatal(error));
  }

  /** What is at hand was leased before something with precedence was added: it is given back, and claimed after that. */
  async #bringForward(): Promise<void> {
    await this.#claiming;
    if (this.#closed) return;
    await this.#release(this.#scheduler.drain());
  }

  #skip(request: LeasedRequest, rule: string): void {
    const reason = `robots.txt: ${rule}`;
    const outcome = { kind: 'handled', result: 'skipped', reason, patch: null } as const;
    const rows = this.#options.rowsOfSkipped(request, reason);
    const unit = { lease: request.lease, outcome, ...rows, requests: [], values: [] };
    this.#options.onSkipped(request, reason);
    this.settle(unit).catch((error: unknown) => this.#options.onFatal(error));
  }

  /** They wait in the store, as retries do: their session cannot send for long. */
  #defer(requests: readonly LeasedRequest[], untilMs: number): void {
    const notBeforeMs = this.#clock.wallMs() + Math.max(1, untilMs - this.#clock.nowMs());
    for (const { lease, patch } of requests) {
      const outcome = { kind: 'retry', notBeforeMs, patch: withAttempt(patch), forefront: false } as const;
      const unit = { lease, outcome, records: [], requests: [], values: [], columns: [] };
      this.settle(unit).catch((error: unknown) => this.#options.onFatal(error));
    }
  }

  #giveUp(host: string, reason: string, left: readonly LeasedRequest[]): void {
    // One that was under way may come back to its host when that has been given up already.
    if (!this.#givenUp.has(host)) this.#options.onGivenUp(host, reason);
    this.#givenUp.set(host, reason);
    this.#giveBack(left);
  }

  #giveBack(requests: readonly LeasedRequest[]): void {
    this.#release(requests).catch((error: unknown) => this.#options.onFatal(error));
  }

  async #release(requests: readonly LeasedRequest[]): Promise<void> {
    const leases = requests.map((request) => request.lease);
    await this.#store.release(leases);
    for (const { requestId } of leases) this.#held.delete(requestId);
    this.#mayClaim();
  }

  #scheduleWake(nowMs: number): void {
    if (this.#closed) return;
    const claimAtMs = this.#claiming === null && this.#wantsMore ? this.#claimNotBeforeMs : Number.POSITIVE_INFINITY;
    const atMs = Math.min(this.#scheduler.nextDueAtMs ?? Number.POSITIVE_INFINITY, claimAtMs);
    // A timer that fires a little early only asks in vain; one more for every request would cost more.
    if (atMs === Number.POSITIVE_INFINITY || (this.#cancelWake !== null && this.#wakeAtMs <= atMs)) return;
    this.#cancelWake?.();
    this.#wakeAtMs = atMs;
    this.#cancelWake = this.#clock.schedule(Math.max(0, atMs - nowMs), () => {
      this.#cancelWake = null;
      this.#onReady();
    });
  }

  #scheduleRenewal(): () => void {
    return this.#clock.schedule(this.#options.leaseMs / 3, () => {
      this.#cancelRenewal = this.#scheduleRenewal();
      if (this.#held.size === 0) return;
      this.#store
        .renew([...this.#held.values()], this.#options.leaseMs)
        .catch((error: unknown) => this.#options.onFatal(error));
    });
  }
}

/** It was handed out and came back in good order: not one that was lost with its process. */
function withAttempt(patch: string | null): string {
  const changes = JSON.parse(patch ?? '{}') as { completedAttempts?: number };
  return JSON.stringify({ ...changes, completedAttempts: (changes.completedAttempts ?? 0) + 1 });
}

function isForefront({ forefront }: NewRequest): boolean {
  return forefront === true;
}
