import type { Input } from '../config/input-schema.ts';
import type { KeySnapshot } from '../core/key-snapshot.ts';
import type { Ports } from '../core/ports.ts';
import { SECOND_MS } from '../core/units.ts';
import type { QueueCounts, RunProgress, RunStore } from '../storage/store.ts';
import { type Composition, RECORDER_KEY, SLOTS_KEY } from './compose.ts';
import { type CrawlLimits, crawlLimitsOf, heedLimits, limitReached, sayLimits } from './crawl-limits.ts';
import type { SharedSeat } from './shared-seat.ts';
import { SlotWatch } from './slot-watch.ts';

type Spell = RunProgress['spell'];

const EVERY_MS = 250;
const SHARED_EVERY_MS = SECOND_MS;
const SAVE_EVERY_MS = 5 * SECOND_MS;
// Some kilobytes for each host: of many it is written less often.
const MANY_HOSTS = 50;
// The record of a long crawl is larger, and that of its last second matters less.
const LOST_SHARE = 0.01;

export type RunMonitorOptions = {
  composition: Composition;
  store: RunStore;
  input: Input;
  ports: Ports;
  isJoiner: boolean;
  /** Several workers look at the same counters: less often. null or left out = the run is this machine's. */
  seat?: SharedSeat | null;
  /** The crawl has to end before all is done, and why. */
  onLimit: (reason: string) => void;
};

/**
 * Looks at a running crawl four times a second: what its slots do, from memory alone, so that a store that keeps everybody
 * waiting is seen at it; and counts, limits of the crawl, and what a restart must not lose, from and to the store.
 */
export class RunMonitor {
  readonly #options: RunMonitorOptions;
  readonly #startedMs: number;
  readonly #slotWatch: SlotWatch;
  #counts: QueueCounts = { total: 0, succeeded: 0, failed: 0, skipped: 0, pending: 0 };
  /** What earlier processes of the run had done: a run that was ended by a limit goes on when it is continued. */
  #before: QueueCounts | null = null;
  /** As the store last had them. */
  #pending: readonly { host: string; pending: number }[] = [];
  #snapshots: KeySnapshot[] = [];
  #savedAtMs: number;
  #persistedAtMs: number;
  #cancel: () => void = () => {};
  #cancelWatch: () => void = () => {};
  #looking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: RunMonitorOptions) {
    this.#options = options;
    this.#slotWatch = new SlotWatch(options.composition, options.input);
    this.#startedMs = options.ports.clock.nowMs();
    this.#savedAtMs = this.#startedMs;
    this.#persistedAtMs = this.#startedMs;
  }

  get counts(): QueueCounts {
    return this.#counts;
  }

  /** Requests not yet handled, by host: of the hosts with most, as far as they are looked at. */
  get pending(): readonly { host: string; pending: number }[] {
    return this.#pending;
  }

  get snapshots(): readonly KeySnapshot[] {
    return this.#snapshots;
  }

  async start(): Promise<void> {
    const { seat, input } = this.#options;
    if (seat) await sayLimits(seat, crawlLimitsOf(input));
    await this.#look();
    this.#watch();
    // When it began is known from then on, however soon it is killed.
    await this.#saveRecord(this.#startedMs);
    this.#arm();
    this.#armWatch();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    this.#cancelWatch();
    await this.#looking;
    await this.#look();
    this.#watch();
  }

  #armWatch(): void {
    this.#cancelWatch = this.#options.ports.clock.schedule(EVERY_MS, () => {
      this.#watch();
      this.#armWatch();
    });
  }

  #watch(): void {
    const { composition, input, ports } = this.#options;
    const { governor, recorder, client } = composition;
    const nowMs = ports.clock.nowMs();
    this.#snapshots = governor.snapshot(nowMs);
    const moment = { snapshots: this.#snapshots, pending: this.#pending };
    recorder.tick({ ...moment, maxConcurrency: input.maxConcurrency, connections: client.stats() });
    this.#slotWatch.look({ ...moment, nowMs, wallMs: ports.clock.wallMs() });
  }

  #arm(): void {
    const everyMs = this.#options.seat ? SHARED_EVERY_MS : EVERY_MS;
    this.#cancel = this.#options.ports.clock.schedule(everyMs, () => {
      this.#looking = this.#look()
        .then(() => {
          if (!this.#isStopped) this.#arm();
        })
        .catch((error: unknown) => this.#options.composition.crawler.fail(error));
    });
  }

  async #look(): Promise<void> {
    const { composition, store, ports } = this.#options;
    const { recorder, crawler } = composition;
    const nowMs = ports.clock.nowMs();
    const spell = await this.#count(nowMs);
    const { total, pending } = this.#counts;
    crawler.setCounts({ total, handled: total - pending });
    this.#pending = await store.queue.pendingHosts(HOSTS_LOOKED_AT);
    const reason = limitReached(await this.#limits(), { ...spell, idleForMs: this.#idleForMs() });
    if (reason !== null) this.#options.onLimit(reason);
    const saveEveryMs = recordEveryMs({ hosts: recorder.hosts().size, activeMs: recorder.activeMs() });
    if (nowMs - this.#savedAtMs >= saveEveryMs) await this.#saveRecord(nowMs);
    if (nowMs - this.#persistedAtMs >= SAVE_EVERY_MS) await this.#persistSessions(nowMs);
  }

  /** @returns what counts for the limits: of a shared run what all workers do, else what this process does */
  async #count(nowMs: number): Promise<Spell> {
    const { store, seat } = this.#options;
    const shared = await seat?.store.progress();
    this.#counts = shared?.counts ?? (await store.queue.counts());
    this.#before ??= this.#counts;
    return (
      shared?.spell ?? {
        failed: this.#counts.failed - this.#before.failed,
        succeeded: this.#counts.succeeded - this.#before.succeeded,
        elapsedMs: nowMs - this.#startedMs,
      }
    );
  }

  async #limits(): Promise<CrawlLimits> {
    const { seat, input } = this.#options;
    const own = crawlLimitsOf(input);
    // Of a run of this machine alone the crawler keeps to it, request by request.
    return seat ? heedLimits(seat, own) : { ...own, maxRequestsPerCrawl: null };
  }

  /** How long nothing can be sent, as far as is known now; 0 while something is under way. */
  #idleForMs(): number {
    const { composition, ports } = this.#options;
    if (composition.crawler.inFlight > 0) return 0;
    const atMs = composition.queue.nextReadyAtMs;
    return atMs === null ? 0 : Math.max(0, atMs - ports.clock.nowMs());
  }

  async #saveRecord(nowMs: number): Promise<void> {
    const { composition, store, isJoiner } = this.#options;
    this.#savedAtMs = nowMs;
    if (isJoiner) return;
    await store.values.set(RECORDER_KEY, composition.recorder.toState());
    await store.values.set(SLOTS_KEY, composition.slots.toState());
  }

  async #persistSessions(nowMs: number): Promise<void> {
    this.#persistedAtMs = nowMs;
    await this.#options.composition.sessions.persist();
  }
}

const HOSTS_LOOKED_AT = 100;

/** @returns how often what is recorded of the crawl is written: a process that is killed loses what came since, ms */
export function recordEveryMs({ hosts, activeMs }: { hosts: number; activeMs: number }): number {
  if (hosts > MANY_HOSTS) return SAVE_EVERY_MS;
  return Math.min(SAVE_EVERY_MS, Math.max(SECOND_MS, activeMs * LOST_SHARE));
}
