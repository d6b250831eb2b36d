import type { Clock } from '../../core/clock.ts';
import type { EventSink } from '../../core/events.ts';
import { SECOND_MS } from '../../core/units.ts';
import { type FetchText, fetchRobots } from './fetch-robots.ts';
import {
  type FetchOutcome,
  FRESH_MS,
  fetchEnded,
  fetchStarted,
  IGNORED_ORIGIN,
  isRefreshDue,
  type OriginState,
  UNKNOWN_ORIGIN,
} from './origin-state.ts';
import { RobotsCopies, type RobotsStore } from './robots-copy.ts';
import { describeGivenUp, type Explanation, explainFetch } from './robots-events.ts';
import { rulesFor } from './robots-rules.ts';
import { splitUrl } from './split-url.ts';

/** What robots.txt says of a URL; `disallowed` is the line that forbids it, as it stands in the file. */
export type RobotsVerdict = 'allowed' | 'unknown' | { disallowed: string };

export type RobotsPolicyOptions = {
  /** Sends one request for a robots.txt, redirects not followed. */
  fetchText: FetchText;
  clock: Clock;
  /** The name our rules are looked up by. */
  productToken: string;
  /** Keeps what was fetched across restarts; nothing is kept without it. */
  store?: RobotsStore;
  onEvent?: EventSink;
  /** Time out of reach after which a host is given up, s. */
  stallSecsOf: (host: string) => number;
  /** Hosts whose robots.txt is not even fetched; none when left out. */
  isIgnored?: (host: string) => boolean;
  /**
   * Hosts that nobody can connect to at all: their requests may go, and fail as such, instead of waiting for a file
   * that never comes; none when left out.
   */
  isDead?: (host: string) => boolean;
};

/** robots.txt of all origins of a crawl: fetched once each, kept for a day, and asked for every URL. */
export interface RobotsPolicy {
  /**
   * Never waits. The first question about an origin starts the fetch of its file.
   * @param nowMs monotonic
   * @throws TypeError when the URL is none
   */
  check(url: string, nowMs: number): RobotsVerdict;
  /** Resolves when the answer of `check` may have changed from 'unknown': it may still be. Never rejects. */
  whenKnown(url: string): Promise<void>;
  /** Why nothing can be sent to the host in this run: its robots.txt stayed out of reach; null while it is not so. */
  givenUp(host: string): string | null;
  /**
   * Why nothing is sent to the host yet: its robots.txt is not known. `reason` is what came instead of it, with the
   * monotonic time of the next try; both null while it is fetched for the first time.
   * @returns null when nobody waits for it
   */
  missing(host: string): { reason: string | null; nextFetchAtMs: number | null } | null;
  /** What the origin's Crawl-delay asks for, ms, at most 300,000; 0 = nothing, or not known. */
  crawlDelayMs(origin: string): number;
  /** Ends fetches and timers. Whoever waits is let go. Idempotent. */
  close(): void;
}

export function createRobotsPolicy(options: RobotsPolicyOptions): RobotsPolicy {
  return new OriginPolicies(options);
}

/** One origin: what is known, and who waits for more. */
type Origin = { origin: string; host: string; state: OriginState; waiting: (() => void)[] };

// How often those are answered who wait for an origin that was given up: they are about to be told so.
const GIVEN_UP_ANSWER_MS = SECOND_MS;
const NONE: readonly Origin[] = [];

class OriginPolicies implements RobotsPolicy {
  readonly #options: RobotsPolicyOptions;
  readonly #clock: Clock;
  readonly #origins = new Map<string, Origin>();
  /** The same by host: asked about every request. */
  readonly #ofHost = new Map<string, Origin[]>();
  readonly #copies: RobotsCopies;
  readonly #closing = new AbortController();

  constructor(options: RobotsPolicyOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#copies = new RobotsCopies(options.store, (origin, reason) =>
      this.#emit(new URL(origin).host, { kind: 'robots', reason }),
    );
  }

  check(url: string, nowMs: number): RobotsVerdict {
    const { origin, path } = splitUrl(url);
    const entry = this.#origins.get(origin) ?? this.#add(origin);
    const { rules, staleAtMs } = entry.state;
    if (rules === null) return this.#mayFail(entry) ? 'allowed' : 'unknown';
    if (nowMs >= staleAtMs && isRefreshDue(entry.state, nowMs)) this.#start(entry);
    const line = rules.forbiddingLine(path);
    return line === null ? 'allowed' : { disallowed: line };
  }

  whenKnown(url: string): Promise<void> {
    const { origin } = splitUrl(url);
    const entry = this.#origins.get(origin) ?? this.#add(origin);
    if (entry.state.rules !== null || this.#closing.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      entry.waiting.push(resolve);
      if (entry.state.outage?.isGivenUp) this.#clock.schedule(GIVEN_UP_ANSWER_MS, () => release(entry));
    });
  }

  givenUp(host: string): string | null {
    for (const { state } of this.#ofHost.get(host) ?? NONE)
      if (state.outage?.isGivenUp) return describeGivenUp(state.outage);
    return null;
  }

  missing(host: string): { reason: string | null; nextFetchAtMs: number | null } | null {
    const entry = (this.#ofHost.get(host) ?? NONE).find(({ state }) => state.rules === null);
    if (entry === undefined || this.#mayFail(entry)) return null;
    const { outage } = entry.state;
    if (outage?.isGivenUp) return null;
    return { reason: outage?.reason ?? null, nextFetchAtMs: outage?.nextFetchAtMs ?? null };
  }

  crawlDelayMs(origin: string): number {
    return this.#origins.get(origin)?.state.rules?.crawlDelayMs ?? 0;
  }

  close(): void {
    this.#closing.abort(new Error('The crawl has ended'));
    for (const entry of this.#origins.values()) release(entry);
  }

  #mayFail({ host, state }: Origin): boolean {
    return state.outage !== null && (this.#options.isDead?.(host) ?? false);
  }

  #add(origin: string): Origin {
    const { host } = new URL(origin);
    const isIgnored = this.#options.isIgnored?.(host) ?? false;
    const entry: Origin = { origin, host, state: isIgnored ? IGNORED_ORIGIN : UNKNOWN_ORIGIN, waiting: [] };
    this.#origins.set(origin, entry);
    this.#ofHost.set(host, [...(this.#ofHost.get(host) ?? NONE), entry]);
    if (!isIgnored && !this.#closing.signal.aborted) this.#start(entry);
    return entry;
  }

  #start(entry: Origin): void {
    entry.state = fetchStarted(entry.state);
    this.#bringIn(entry).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) throw error;
    });
  }

  /** Fetches until there are rules to go by, or no hope. */
  async #bringIn(entry: Origin): Promise<void> {
    for (;;) {
      await this.#fetchOnce(entry);
      const { rules, outage } = entry.state;
      if (rules !== null || outage === null || outage.isGivenUp) return;
      await this.#clock.sleep(Math.max(0, outage.nextFetchAtMs - this.#clock.nowMs()), this.#closing.signal);
    }
  }

  async #fetchOnce(entry: Origin): Promise<void> {
    const outcome = await this.#fetch(entry);
    const before = entry.state;
    const nowMs = this.#clock.nowMs();
    entry.state = fetchEnded(before, outcome, { nowMs, stallMs: this.#options.stallSecsOf(entry.host) * SECOND_MS });
    this.#emit(entry.host, explainFetch(outcome, { before, after: entry.state, nowMs }));
    release(entry);
  }

  /** Takes a copy that is fresh enough, else fetches the file itself; rejects only when closing. */
  async #fetch({ origin }: Origin): Promise<FetchOutcome> {
    const { productToken, fetchText } = this.#options;
    const wallMs = (): number => this.#clock.wallMs();
    const copy = await this.#copies.load(origin, wallMs());
    const ageMs = wallMs() - (copy?.fetchedAtMs ?? 0);
    const kept = copy === null ? null : rulesFor(copy.text, productToken);
    if (kept !== null && ageMs < FRESH_MS) return { kind: 'rules', rules: kept, source: 'copy', ageMs };
    const fetched = await fetchRobots(origin, { fetchText, wallMs, signal: this.#closing.signal });
    if (fetched.kind === 'unreachable') return { ...fetched, fallback: kept };
    const text = fetched.kind === 'file' ? fetched.text : '';
    await this.#copies.save(origin, { fetchedAtMs: wallMs(), text });
    return { kind: 'rules', rules: rulesFor(text, productToken), source: fetched.kind, ageMs: 0 };
  }

  #emit(host: string, { reason, ...rest }: Explanation): void {
    this.#options.onEvent?.({ atMs: this.#clock.wallMs(), host, reason, ...rest });
  }
}

function release(entry: Origin): void {
  for (const resolve of entry.waiting.splice(0)) resolve();
}
