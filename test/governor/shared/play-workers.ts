import type { Sample } from '../../../src/core/sample.ts';
import { createGovernor } from '../../../src/governor/create-governor.ts';
import type { HostPolicy } from '../../../src/governor/governor.ts';
import type { ExchangeAnswer, KeyReport } from '../../../src/governor/shared/exchange.ts';
import { GRANT_LEASE_MS, SharedGovernor } from '../../../src/governor/shared/shared-governor.ts';
import type { Share } from '../../../src/governor/shared/shares.ts';
import { TokenBucket } from '../../fixtures/servers/token-bucket-server.ts';
import { EPOCH_MS, KEY, policy } from '../harness.ts';

const EXCHANGE_EVERY_MS = 200;
const EXCHANGE_TAKES_MS = 4;
const STEP_MS = 1;

export type PlayOptions = {
  /** Of the server: requests/s, and how many may come at once; null = it refuses nothing. */
  server: { requestsPerSecond: number; burst: number } | null;
  latencyMs?: number;
  hosts?: Partial<HostPolicy>;
  maxRequestsPerMinute?: number | null;
  crawlDelayMs?: number;
};

type Due = { atMs: number; action: () => void };
type KeyRow = { parkedUntilMs: number };

/** Workers that share a budget, played in steps of 1 ms: real governors, a server and a table between them in memory. */
export class PlayedWorkers {
  nowMs = 0;
  /** When each request came to the server, and from whom. */
  readonly arrivals: { atMs: number; workerId: number; isRefused: boolean }[] = [];
  readonly #options: PlayOptions;
  readonly #bucket: TokenBucket | null;
  readonly #shares = new Map<number, Map<string, Share & { untilMs: number }>>();
  readonly #keys = new Map<string, KeyRow>();
  #due: Due[] = [];
  readonly workers: PlayedWorker[] = [];

  constructor(options: PlayOptions) {
    this.#options = options;
    this.#bucket = options.server === null ? null : new TokenBucket(options.server);
  }

  add(count = 1): PlayedWorker {
    for (let i = 0; i < count; i++) this.workers.push(new PlayedWorker(this, this.workers.length + 1, this.#options));
    return this.workers.at(-1)!;
  }

  run(forMs: number): void {
    const endMs = this.nowMs + forMs;
    for (; this.nowMs < endMs; this.nowMs += STEP_MS) {
      const now = this.#due.filter(({ atMs }) => atMs <= this.nowMs);
      if (now.length > 0) this.#due = this.#due.filter(({ atMs }) => atMs > this.nowMs);
      for (const { action } of now) action();
      for (const worker of this.workers) worker.step();
    }
  }

  later(afterMs: number, action: () => void): void {
    this.#due.push({ atMs: this.nowMs + afterMs, action });
  }

  /** The server's answer. */
  arrive(workerId: number): { status: number; headers: Record<string, string> } {
    const waitMs = this.#bucket?.take(this.nowMs) ?? 0;
    this.arrivals.push({ atMs: this.nowMs, workerId, isRefused: waitMs > 0 });
    if (waitMs === 0) return { status: 200, headers: {} };
    return { status: 429, headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } };
  }

  exchange(governor: SharedGovernor, workerId: number, reports: readonly KeyReport[]): ExchangeAnswer {
    const decisions = new Map<string, ReturnType<SharedGovernor['decide']>>();
    const parks: { key: string; forMs: number }[] = [];
    const own = this.#shares.get(workerId) ?? new Map();
    this.#shares.set(workerId, own);
    for (const report of reports) {
      const { key } = report;
      const row = this.#keys.get(key) ?? { parkedUntilMs: 0 };
      this.#keys.set(key, row);
      if (report.parkForMs !== null) row.parkedUntilMs = Math.max(row.parkedUntilMs, this.nowMs + report.parkForMs);
      const decision = governor.decide(report, this.#othersOf(workerId, key));
      const granted = {
        ...report,
        workerId,
        grantedRps: decision.grantedRps ?? 0,
        untilMs: this.nowMs + GRANT_LEASE_MS,
      };
      own.set(key, granted);
      decisions.set(key, decision);
      if (row.parkedUntilMs > this.nowMs) parks.push({ key, forMs: row.parkedUntilMs - this.nowMs });
    }
    return { decisions, parks };
  }

  #othersOf(workerId: number, key: string): Share[] {
    return [...this.#shares]
      .filter(([id]) => id !== workerId)
      .flatMap(([, shares]) => shares.get(key) ?? [])
      .filter(({ untilMs }) => untilMs > this.nowMs);
  }

  /** What all workers may send now, by leases that have not ended, requests/s. */
  grantedNow(key = KEY): number {
    return this.#othersOf(0, key).reduce((sum, { grantedRps }) => sum + grantedRps, 0);
  }

  /** @returns the most requests that came within any `windowMs`, from `fromMs` on */
  mostWithin(windowMs: number, fromMs = 0): number {
    const times = this.arrivals.map(({ atMs }) => atMs).filter((atMs) => atMs >= fromMs);
    let most = 0;
    for (let first = 0, last = 0; last < times.length; last++) {
      while (times[last]! - times[first]! >= windowMs) first += 1;
      most = Math.max(most, last - first + 1);
    }
    return most;
  }

  /** Answered requests/s between two times. */
  goodput(fromMs: number, toMs: number): number {
    const answered = this.arrivals.filter(({ atMs, isRefused }) => !isRefused && atMs >= fromMs && atMs < toMs);
    return (answered.length * 1000) / (toMs - fromMs);
  }

  sentBy(workerId: number, fromMs = 0): number {
    return this.arrivals.filter((arrival) => arrival.workerId === workerId && arrival.atMs >= fromMs).length;
  }
}

/** One worker with as much to send as it may, until told otherwise. */
export class PlayedWorker {
  readonly id: number;
  readonly governor: SharedGovernor;
  readonly #play: PlayedWorkers;
  readonly #latencyMs: number;
  isAlive = true;
  /** Requests it still has; Infinity = never runs out. */
  left = Number.POSITIVE_INFINITY;
  #askAtMs = 0;
  #exchangeAtMs: number;
  #isExchanging = false;

  constructor(play: PlayedWorkers, id: number, options: PlayOptions) {
    this.id = id;
    this.#play = play;
    this.#latencyMs = options.latencyMs ?? 20;
    // Each begins at a moment of its own.
    this.#exchangeAtMs = play.nowMs + ((id * 37) % EXCHANGE_EVERY_MS);
    const policyOf = () => ({ ...policy, ...options.hosts });
    const wallMs = (): number => EPOCH_MS + play.nowMs;
    const clock = { nowMs: () => play.nowMs, wallMs };
    this.governor = new SharedGovernor({
      inner: createGovernor({ policyOf, clock, random: () => 0 }),
      workerId: id,
      policyOf,
      crawlDelayMs: () => options.crawlDelayMs ?? 0,
      maxRequestsPerMinute: options.maxRequestsPerMinute ?? null,
      wallMs,
    });
  }

  step(): void {
    if (!this.isAlive) return;
    const { nowMs } = this.#play;
    if (!this.#isExchanging && (this.governor.hasNews || nowMs >= this.#exchangeAtMs)) this.#exchange();
    while (this.left > 0 && nowMs >= this.#askAtMs) {
      const answer = this.governor.tryAcquire(KEY, nowMs);
      if (answer > 0) {
        this.#askAtMs = Math.min(answer, nowMs + 50);
        break;
      }
      this.left -= 1;
      this.#send();
    }
  }

  #send(): void {
    const sentAtMs = this.#play.nowMs;
    const answer = this.#play.arrive(this.id);
    this.#play.later(this.#latencyMs, () => {
      if (!this.isAlive) return;
      const endedAtMs = this.#play.nowMs;
      const sample: Sample = {
        key: KEY,
        origin: `https://${KEY}`,
        sentAtMs,
        endedAtMs,
        failure: null,
        wallMs: EPOCH_MS + endedAtMs,
        bodyText: null,
        overloaded: false,
        ...answer,
      };
      if (this.governor.finish(sample) !== 'ok') this.left += 1;
      this.#askAtMs = 0;
    });
  }

  #exchange(): void {
    this.#isExchanging = true;
    const sentAtMs = this.#play.nowMs;
    this.#exchangeAtMs = sentAtMs + EXCHANGE_EVERY_MS;
    const reports = this.governor.report(sentAtMs);
    this.#play.later(EXCHANGE_TAKES_MS / 2, () => {
      const answer = this.#play.exchange(this.governor, this.id, reports);
      this.#play.later(EXCHANGE_TAKES_MS / 2, () => {
        this.#isExchanging = false;
        if (this.isAlive) this.governor.apply(answer, { sentAtMs, nowMs: this.#play.nowMs });
      });
    });
  }
}
