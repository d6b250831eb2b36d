import type { KeySnapshot } from '../core/key-snapshot.ts';
import { SECOND_MS } from '../core/units.ts';
import { Gate } from './gate.ts';
import type { HostState } from './host-state.ts';
import { Outstanding } from './law/outstanding.ts';
import { Overloads } from './law/overloads.ts';
import { RateControl } from './law/rate-control.ts';
import { SentWith } from './law/sent-with.ts';
import { StatedPace } from './law/stated-pace.ts';
import type { Pacer } from './pacer.ts';
import type { Signals } from './signals/read-signals.ts';

// A lone request that takes so much longer than usual is given a second one beside it.
const HUNG_AFTER_LATENCIES = 10;
const SHORTEST_HUNG_MS = 2_000;
const LONGEST_HUNG_MS = 30_000;
const DEFAULT_WAIT_MS = 1_000;
const OVERLOADS_OF_ONE_URL = 3;
const MOST_OVERLOADS = 500;
// Longer than any wait of our own choice, which is asked about when it ends.
const FORGOTTEN_AFTER_MS = 300_000;
const RECOUNT_MS = 250;

/** Everything one key holds: what is in flight, its gate, its rate, and whether it makes progress. */
export class KeyState {
  readonly key: string;
  readonly host: HostState;
  /** The proxy or local address its requests leave by; '' = the usual one. */
  readonly egress: string;
  readonly faults = new Overloads();
  readonly gate = new Gate();
  readonly control: RateControl;
  readonly stated = new StatedPace();
  /** The configured ceiling, shared with other buckets of the same budget; null = none. */
  readonly ceiling: Pacer | null;
  inFlight = 0;
  rateLimited = 0;
  /** Requests sent before it are no evidence against what was decided at it. */
  cutAtMs = Number.NEGATIVE_INFINITY;
  /** The wait after the last lone refusal; grows while they go on. */
  backoffMs = 0;
  lastUsedMs: number;
  givenUp: string | null = null;
  /** How many were in flight when a request was sent. */
  readonly sentWith = new SentWith();
  readonly #outstanding = new Outstanding();
  #hung = 0;
  #hungCountedAtMs = Number.NEGATIVE_INFINITY;
  #overloads: Map<string, number> | null = null;
  #tryingSinceMs: number | null = null;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #serverParkedBeforeMs = 0;

  constructor(facts: { key: string; host: HostState; ceiling: Pacer | null; nowMs: number }) {
    const { policy } = facts.host;
    this.key = facts.key;
    this.host = facts.host;
    this.egress = facts.key.split('#')[2] ?? '';
    this.ceiling = facts.ceiling;
    this.lastUsedMs = facts.nowMs;
    this.control = new RateControl({
      maxConcurrency: policy.maxConcurrency,
      headroom: policy.headroom,
      // A configured rate is used as given.
      discovers: policy.discovery === 'auto' && policy.requestsPerSecond === null,
      nowMs: facts.nowMs,
    });
  }

  /** The wait after a refusal that tells none, ms. */
  get leastWaitMs(): number {
    return this.host.profile?.leastWaitMs ?? DEFAULT_WAIT_MS;
  }

  /** Whether nothing would be lost by forgetting it. */
  get isIdle(): boolean {
    return this.inFlight === 0 && this.rateLimited === 0 && this.gate.isOpen && this.givenUp === null;
  }

  /**
   * Whether a 503 is the request's own fault, not the load's: one that comes back again and again for the same URL,
   * while others are answered.
   */
  isOwnFault({ refusal, retryAfterMs }: Signals, url: string | undefined): boolean {
    if (refusal?.kind !== 'overload' || retryAfterMs !== null || url === undefined) return false;
    this.#overloads ??= new Map();
    const count = (this.#overloads.get(url) ?? 0) + 1;
    if (this.#overloads.size >= MOST_OVERLOADS) this.#overloads.clear();
    this.#overloads.set(url, count);
    return count > OVERLOADS_OF_ONE_URL;
  }

  get hungAfterMs(): number {
    const usual = HUNG_AFTER_LATENCIES * this.control.latency.meanMs;
    return usual === 0 ? LONGEST_HUNG_MS / 3 : Math.min(Math.max(usual, SHORTEST_HUNG_MS), LONGEST_HUNG_MS);
  }

  /** @returns 0 when the key itself would send now, else when to ask again (Infinity: after a finished request). */
  readyAtMs(nowMs: number): number {
    if (this.givenUp !== null) return Number.POSITIVE_INFINITY;
    if (this.#wasForgotten(nowMs)) this.#tryingSinceMs = null;
    this.#askedAtMs = nowMs;
    const { gate, control, host, ceiling } = this;
    const heldUntilMs = Math.max(
      gate.readyAtMs(nowMs, this.hungAfterMs),
      host.readyAtMs(nowMs, this.hungAfterMs),
      ceiling === null ? 0 : ceiling.askAt(nowMs),
    );
    if (heldUntilMs > nowMs) return heldUntilMs;
    // The lone request after a wait is held by what was told and configured, not by what was found out.
    if (!gate.isOpen) return 0;
    if (control.pacer.askAt(nowMs) > 0) {
      control.paceBinds(nowMs);
      if (control.pacer.readyAtMs > nowMs) return control.pacer.readyAtMs;
    }
    if (this.inFlight < control.cap) return 0;
    if (this.inFlight - this.#countHung(nowMs) < control.cap) return 0;
    control.pacer.heldByOthers();
    control.slotsBind(nowMs);
    return this.inFlight < control.cap ? 0 : Number.POSITIVE_INFINITY;
  }

  /** Nobody had anything to send for long: that is no want of progress. */
  #wasForgotten(nowMs: number): boolean {
    return this.inFlight === 0 && nowMs - this.#askedAtMs > FORGOTTEN_AFTER_MS;
  }

  /** Requests that are out for so long that they are no load any more, as a rule. */
  #countHung(nowMs: number): number {
    if (nowMs - this.#hungCountedAtMs >= RECOUNT_MS) {
      this.#hungCountedAtMs = nowMs;
      this.#hung = this.#outstanding.olderThan(this.hungAfterMs, nowMs);
    }
    return this.#hung;
  }

  take(nowMs: number): void {
    this.inFlight += 1;
    this.#outstanding.sent(nowMs);
    this.sentWith.sent(nowMs, this.inFlight);
    this.lastUsedMs = nowMs;
    this.host.take(nowMs);
    this.gate.sent(nowMs);
    if (this.control.pacer.isBinding(nowMs)) this.control.paceBinds(nowMs);
    this.control.pacer.take(nowMs);
    this.ceiling?.take(nowMs);
    if (this.#tryingSinceMs === null) this.#startTrying(nowMs);
  }

  giveBack(nowMs: number): void {
    this.release(nowMs);
    this.gate.cancelled();
    this.host.circuit?.cancelled();
    this.control.pacer.giveBack();
    this.ceiling?.giveBack();
  }

  release(sentAtMs: number): void {
    this.inFlight -= 1;
    this.#outstanding.ended(sentAtMs);
    this.host.inFlight -= 1;
  }

  progressed(nowMs: number): void {
    this.givenUp = null;
    if (this.inFlight > 0) this.#startTrying(nowMs);
    else this.#tryingSinceMs = null;
  }

  #startTrying(nowMs: number): void {
    this.#tryingSinceMs = nowMs;
    this.#serverParkedBeforeMs = this.gate.serverParkedMs(nowMs);
  }

  /** Time without progress though it was tried; what the server told us to wait is left out. */
  stalledMs(nowMs: number): number {
    if (this.#tryingSinceMs === null || this.#wasForgotten(nowMs)) return 0;
    const parkedMs = this.gate.serverParkedMs(nowMs) - this.#serverParkedBeforeMs;
    return nowMs - this.#tryingSinceMs - parkedMs;
  }

  hasStalled(nowMs: number): boolean {
    return this.stalledMs(nowMs) >= this.host.policy.stallSecs * SECOND_MS;
  }

  /** @returns how many sends it could take within `horizonMs` */
  appetite(nowMs: number, horizonMs: number): number {
    if (this.givenUp !== null) return 0;
    if (!this.gate.isOpen) return this.gate.untilMs > nowMs + horizonMs ? 0 : 1;
    if (this.host.isParkedBeyond(nowMs + horizonMs)) return 0;
    const { cap, latency, pacer } = this.control;
    const roundTrips = latency.meanMs > 0 ? horizonMs / latency.meanMs : 1;
    const intervalMs = Math.max(pacer.intervalMs, this.ceiling?.intervalMs ?? 0);
    const bySlots = Math.ceil(cap * (1 + roundTrips)) - this.inFlight;
    const byPace = intervalMs > 0 ? Math.ceil(horizonMs / intervalMs) + 1 : Number.POSITIVE_INFINITY;
    return Math.max(0, Math.min(bySlots, byPace));
  }

  /** @param wallOffsetMs epoch time minus monotonic time */
  snapshot(nowMs: number, wallOffsetMs: number): KeySnapshot {
    const park = this.#park(nowMs);
    return {
      key: this.key,
      host: this.host.host,
      inFlight: this.inFlight,
      concurrency: Math.min(this.control.cap, this.host.policy.maxConcurrency),
      requestsPerSecond: this.#pace(),
      ...this.#limit(),
      parkedUntilMs: park ? park.untilMs + wallOffsetMs : null,
      parkedReason: park?.reason ?? null,
      givenUp: this.givenUp,
      rateLimited: this.rateLimited,
    };
  }

  #park(nowMs: number): { untilMs: number; reason: string } | null {
    const circuit = this.host.openCircuitReason(nowMs);
    if (circuit) return circuit;
    if (this.gate.isOpen || this.gate.untilMs <= nowMs) return null;
    return { untilMs: this.gate.untilMs, reason: this.gate.reason };
  }

  #pace(): number | null {
    const intervalMs = Math.max(this.control.pacer.intervalMs, this.ceiling?.intervalMs ?? 0);
    return intervalMs > 0 ? 1000 / intervalMs : null;
  }

  /** Of several limits the lowest is shown, whoever set it. */
  #limit(): Pick<KeySnapshot, 'limitRps' | 'limitSource'> {
    const limits = [
      { limitRps: this.host.configuredRps, limitSource: 'configured' as const },
      { limitRps: this.stated.limitRps, limitSource: 'stated' as const },
      { limitRps: this.control.limitRps, limitSource: 'discovered' as const },
    ].filter(({ limitRps }) => limitRps !== null);
    const lowest = limits.sort((a, b) => (a.limitRps ?? 0) - (b.limitRps ?? 0))[0];
    return lowest ?? { limitRps: null, limitSource: null };
  }
}
