import { OTHER_HOSTS } from '../../report/failure-groups.ts';

/**
 * Why a slot stood idle though there was something to send. A slot that had nothing to send is `empty`, one at work is
 * counted by the timings of its request.
 */
export const IDLE_CAUSES = [
  'configured-rate',
  'stated-limit',
  'discovered-limit',
  'discovery',
  'parked',
  'robots',
  'crawl-delay',
  'requests-per-minute',
  'retry-wait',
  'storage',
  'own-process',
] as const;
export type IdleCause = (typeof IDLE_CAUSES)[number];

/** One host at one moment. */
export type HostTick = {
  host: string;
  /** Requests not yet handled, those in flight included. */
  pending: number;
  /** On the wire. */
  inFlight: number;
  /** Most in flight that the configuration allows it. */
  configuredConcurrency: number;
  /** Most in flight that the governor allows it now. */
  concurrency: number;
  /** The rate it is paced at now; null = unpaced. */
  paceRps: number | null;
  limitSource: 'configured' | 'stated' | 'discovered' | null;
  isParked: boolean;
  /** Nothing is sent to it before its robots.txt is known; left out = no. */
  isAwaitingRobots?: boolean;
  /** What its robots.txt asks for, ms; 0 = nothing. */
  crawlDelayMs: number;
  /** Whether any request of it has been retried or rejected so far. */
  hasRetried: boolean;
  hasBeenLimited: boolean;
};

/** The crawl at one moment, and how long it has been since the last. */
export type SlotTick = {
  elapsedMs: number;
  hosts: readonly HostTick[];
  maxConcurrency: number;
  /** Requests that wait within the HTTP client for a connection. */
  connectionsWaiting: number;
  isCappedPerMinute: boolean;
  /** Share of the time in which our event loop was busy, 0 to 1. */
  busyShare: number;
  /** So much waits for the store that nothing new is begun. */
  isStoreBehind: boolean;
  /** Nothing is at hand, and what the store has waits for its time; left out = no. */
  isAllDelayed?: boolean;
};

/** All times are slot-ms (slots x ms), but for the first three. */
export type SlotAccountState = {
  weighedMs: number;
  /** Integral of the busy share. */
  busyMs: number;
  /** Time in which the process was overloaded. */
  overloadedMs: number;
  /** What the configuration would have allowed. */
  slotMs: number;
  emptyMs: number;
  wireMs: number;
  waitingMs: number;
  /** By cause, then host. */
  idle: Partial<Record<IdleCause, Record<string, number>>>;
};

// Above this share of busy time answers wait for us (as the crawl's load monitor has it, over a longer interval).
const OVERLOADED_SHARE = 0.9;
const MOST_HOSTS_A_CAUSE = 100;

/** Weighs, a few times a second, what each of the crawl's slots is doing. Bounded in memory, never throws. */
export class SlotAccount {
  readonly #state: SlotAccountState;
  /** At the last moment that had work; null while there was none. */
  #lastSlots: number | null = null;

  /** @param state where an earlier process of the run left off */
  constructor(state?: SlotAccountState | null) {
    this.#state = state ? structuredClone(state) : emptyAccount();
  }

  tick(tick: SlotTick): void {
    const { elapsedMs } = tick;
    if (!(elapsedMs > 0)) return;
    const slots = slotsOf(tick) ?? this.#idleSlots();
    if (slots === null) return;
    this.#lastSlots = slots.available;
    const state = this.#state;
    state.weighedMs += elapsedMs;
    state.busyMs += elapsedMs * Math.min(1, tick.busyShare);
    if (tick.busyShare >= OVERLOADED_SHARE) state.overloadedMs += elapsedMs;
    // While all that is left waits, it is that, not the want of more, that keeps every slot.
    const wanted = isStandingStill(tick) ? slots.available : slots.wanted;
    state.slotMs += elapsedMs * slots.available;
    state.emptyMs += elapsedMs * (slots.available - wanted);
    state.wireMs += elapsedMs * slots.inFlight;
    state.waitingMs += elapsedMs * Math.min(tick.connectionsWaiting, slots.inFlight);
    this.#addIdle(tick, Math.max(0, wanted - slots.inFlight));
  }

  toState(): SlotAccountState {
    return structuredClone(this.#state);
  }

  /** Between two batches of work nothing is known of the hosts to come. */
  #idleSlots(): Slots | null {
    return this.#lastSlots === null ? null : { available: this.#lastSlots, wanted: 0, inFlight: 0 };
  }

  /** Idle slots are the hosts' in proportion to what each could have used. */
  #addIdle(tick: SlotTick, idleSlots: number): void {
    const lacking = tick.hosts.map((host) => ({ host, slots: Math.max(0, wantedBy(host) - host.inFlight) }));
    const total = lacking.reduce((sum, { slots }) => sum + slots, 0);
    if (total === 0) return;
    for (const { host, slots } of lacking) {
      if (slots > 0) this.#addCause(causeOf(host, tick), host.host, (tick.elapsedMs * idleSlots * slots) / total);
    }
  }

  #addCause(cause: IdleCause, host: string, ms: number): void {
    let byHost = this.#state.idle[cause];
    if (byHost === undefined) {
      byHost = {};
      this.#state.idle[cause] = byHost;
    }
    const isRoom = Object.hasOwn(byHost, host) || Object.keys(byHost).length < MOST_HOSTS_A_CAUSE;
    const name = isRoom ? host : OTHER_HOSTS;
    byHost[name] = (byHost[name] ?? 0) + ms;
  }
}

/**
 * Why a host's slots stand idle now. What the process itself is to blame for goes first: a pace that is not reached
 * holds nobody back.
 */
export function causeOf(host: HostTick, tick: SlotTick): IdleCause {
  if (tick.isStoreBehind) return 'storage';
  if (host.isParked) return 'parked';
  if (host.isAwaitingRobots) return 'robots';
  if (host.crawlDelayMs > 0 && (host.paceRps === null || 1_000 / host.crawlDelayMs <= host.paceRps))
    return 'crawl-delay';
  if (tick.isAllDelayed && host.hasRetried && host.inFlight < host.concurrency) return 'retry-wait';
  if (tick.busyShare >= OVERLOADED_SHARE && host.limitSource === null) return 'own-process';
  if (host.inFlight >= host.concurrency && host.concurrency < host.configuredConcurrency) return capCause(host);
  if (host.paceRps !== null) return host.limitSource === null ? 'discovery' : limitCause(host.limitSource);
  if (tick.isCappedPerMinute) return 'requests-per-minute';
  return host.hasRetried ? 'retry-wait' : 'own-process';
}

const STANDSTILLS: ReadonlySet<IdleCause> = new Set(['parked', 'robots', 'crawl-delay', 'retry-wait']);

/** Nothing is on the wire, and each host with work has to wait for a time that does not depend on us. */
function isStandingStill(tick: SlotTick): boolean {
  const working = tick.hosts.filter(({ pending, inFlight }) => pending > 0 || inFlight > 0);
  return working.length > 0 && working.every((host) => host.inFlight === 0 && STANDSTILLS.has(causeOf(host, tick)));
}

function capCause({ limitSource, hasBeenLimited }: HostTick): IdleCause {
  if (limitSource === 'stated' || limitSource === 'discovered') return limitCause(limitSource);
  return hasBeenLimited ? 'discovered-limit' : 'discovery';
}

function limitCause(source: 'configured' | 'stated' | 'discovered'): IdleCause {
  if (source === 'configured') return 'configured-rate';
  return source === 'stated' ? 'stated-limit' : 'discovered-limit';
}

/** Slots a host could fill, were it not held back. */
function wantedBy({ pending, inFlight, configuredConcurrency }: HostTick): number {
  return Math.max(inFlight, Math.min(pending, configuredConcurrency));
}

type Slots = { available: number; wanted: number; inFlight: number };

/** @returns null when no host has work */
function slotsOf({ hosts, maxConcurrency }: SlotTick): Slots | null {
  const working = hosts.filter(({ pending, inFlight }) => pending > 0 || inFlight > 0);
  if (working.length === 0) return null;
  const sum = (part: (host: HostTick) => number): number => working.reduce((total, host) => total + part(host), 0);
  const inFlight = sum((host) => host.inFlight);
  const available = Math.max(
    inFlight,
    Math.min(
      maxConcurrency,
      sum((host) => host.configuredConcurrency),
    ),
  );
  return { available, wanted: Math.min(available, sum(wantedBy)), inFlight };
}

function emptyAccount(): SlotAccountState {
  return {
    weighedMs: 0,
    busyMs: 0,
    overloadedMs: 0,
    slotMs: 0,
    emptyMs: 0,
    wireMs: 0,
    waitingMs: 0,
    idle: {},
  };
}
