import type { CrawlEvent } from '../core/events.ts';
import type { KeySnapshot } from '../core/key-snapshot.ts';
import type { Ports } from '../core/ports.ts';
import { PHASES, type Timings } from '../core/timings.ts';
import { EventList, type EventListState } from './event-list.ts';
import { type FailureGroup, FailureGroups, OTHER_HOSTS } from './failure-groups.ts';
import { type Attempt, HostRecord, type HostRecordState, isAnswer, limitsByHost, wireMs } from './host-record.ts';
import { Timeline, type TimelineState } from './timeline.ts';

/** Hosts kept apart; when there are twice as many, those with the fewest requests are folded into one. */
const MOST_HOSTS = 1_000;
const STATE_VERSION = 1;

/** What became of a request, as the crawl reports it once it is committed. */
export type Handled = {
  host: string;
  result: 'succeeded' | 'failed' | 'skipped';
  /** Stable code of a failure, or the reason of a skip; null when it succeeded. */
  code: string | null;
  url: string;
};

export type ConnectionCounts = { opened: number; requests: number; http2Requests: number; waiting: number };

/** The state of things between requests, a few times a second. */
export type Tick = {
  snapshots: readonly KeySnapshot[];
  /** Most requests in flight over all hosts. */
  maxConcurrency: number;
  /** The HTTP client's counts since this process began. */
  connections?: ConnectionCounts;
  /** Requests not yet handled, by host, where known: a host with some had work though nothing was in flight. */
  pending?: readonly { host: string; pending: number }[];
};

/** All the recorder knows, as JSON: kept in the run's values, so that a run that is resumed is reported as one. */
export type RecorderState = {
  version: typeof STATE_VERSION;
  run: string;
  startedAtMs: number;
  /** Time the crawl has been running, all processes of the run together, ms. */
  activeMs: number;
  /** When each process of the run began: epoch ms, and crawling time at that moment. */
  sessions: { atMs: number; offsetMs: number }[];
  hosts: Record<string, HostRecordState>;
  skipped: Record<string, number>;
  failures: FailureGroup[];
  events: EventListState;
  timeline: TimelineState;
  /** For the mean of in flight / ceiling: ms weighed, and ms x share. */
  slots: { weighedMs: number; usedMs: number };
  /** The HTTP client's counts over all processes of the run. */
  connections: ConnectionCounts;
};

export type RecorderOptions = {
  ports: Pick<Ports, 'clock'>;
  run: string;
  /** Where an earlier process of the run left off; one of another version is not used. */
  state?: RecorderState | null;
};

/** @returns a recorder that goes on where `state` ended, or begins now */
export function createRecorder({ ports, run, state }: RecorderOptions): Recorder {
  return new Recorder(ports.clock, state?.version === STATE_VERSION ? state : freshState(run, ports.clock.wallMs()));
}

/**
 * Listens to the crawl: about a microsecond a request and bounded memory, however many requests, hosts or days there
 * are. Nothing here waits or throws.
 */
export class Recorder {
  readonly #clock: Ports['clock'];
  readonly #run: string;
  readonly #startedAtMs: number;
  readonly #earlierMs: number;
  readonly #beganMs: number;
  readonly #sessions: RecorderState['sessions'];
  readonly #hosts = new Map<string, HostRecord>();
  readonly #skipped: Map<string, number>;
  readonly #failures: FailureGroups;
  readonly #events: EventList;
  readonly #timeline: Timeline;
  readonly #slots: RecorderState['slots'];
  readonly #earlierConnections: ConnectionCounts;
  #connections: ConnectionCounts = { opened: 0, requests: 0, http2Requests: 0, waiting: 0 };
  #tickedMs: number;
  #endedMs: number | null = null;

  constructor(clock: Ports['clock'], state: RecorderState) {
    this.#clock = clock;
    this.#run = state.run;
    this.#startedAtMs = state.startedAtMs;
    this.#earlierMs = state.activeMs;
    this.#beganMs = clock.nowMs();
    this.#tickedMs = state.activeMs;
    this.#sessions = [...state.sessions, { atMs: clock.wallMs(), offsetMs: state.activeMs }];
    for (const [host, record] of Object.entries(state.hosts)) this.#hosts.set(host, HostRecord.fromState(record));
    this.#skipped = new Map(Object.entries(state.skipped));
    this.#failures = FailureGroups.fromState(state.failures);
    this.#events = EventList.fromState(state.events);
    this.#timeline = Timeline.fromState(state.timeline);
    this.#slots = { ...state.slots };
    this.#earlierConnections = state.connections;
  }

  /** One attempt ended: a response came, or failed to. */
  attempt(attempt: Attempt): void {
    const atMs = this.activeMs();
    this.#host(attempt.host).add(attempt);
    this.#timeline.attempt(atMs, attempt.host);
    if (attempt.limited) this.#timeline.count(atMs, 'limited');
    if (attempt.status === null) this.#timeline.count(atMs, 'networkFailures');
    else if (isAnswer(attempt)) this.#timeline.latency(atMs, wireMs(attempt.timings));
  }

  /** Time known only after the attempt was reported: parse, handler, commit. */
  time(host: string, phase: keyof Timings, ms: number): void {
    const sums = this.#host(host).timeMs;
    const index = PHASES.indexOf(phase);
    sums[index] = (sums[index] as number) + ms;
  }

  /** A request will be tried again, at the cost of one of its retries. */
  retried(host: string): void {
    this.#host(host).retries++;
    this.#timeline.count(this.activeMs(), 'retries');
  }

  /** A request is done with, for good or bad, and committed. */
  handled({ host, result, code, url }: Handled): void {
    const record = this.#host(host);
    record[result]++;
    if (result === 'skipped') this.#skipped.set(code ?? 'unknown', (this.#skipped.get(code ?? 'unknown') ?? 0) + 1);
    else this.#timeline.count(this.activeMs(), result);
    if (result === 'failed') this.#failures.add({ code: code ?? 'UNKNOWN', host, url });
  }

  /** Something changed how the crawl goes. */
  event(event: CrawlEvent): void {
    this.#events.add({ ...event, offsetMs: this.activeMs() });
  }

  /** To be called every 0.25 to 1 s: weighs how well the slots are used and which hosts have work. */
  tick({ snapshots, maxConcurrency, connections, pending = [] }: Tick): void {
    const atMs = this.activeMs();
    const elapsedMs = atMs - this.#tickedMs;
    this.#tickedMs = atMs;
    if (connections !== undefined) this.#connections = connections;
    const limits = limitsByHost(snapshots);
    this.#timeline.limits(atMs, limits);
    const waitingHosts = new Set(pending.filter((entry) => entry.pending > 0).map((entry) => entry.host));
    let inFlight = 0;
    let ceiling = 0;
    for (const [host, limit] of limits) {
      const record = this.#host(host);
      record.limits = limit;
      const hasWork =
        limit.inFlight > 0 || record.activeSinceTick || limit.parkedUntilMs !== null || waitingHosts.has(host);
      record.activeSinceTick = false;
      if (!hasWork) continue;
      record.workMs += elapsedMs;
      inFlight += limit.inFlight;
      ceiling += limit.concurrency;
    }
    if (ceiling > 0) this.#weighSlots(elapsedMs, inFlight / Math.min(ceiling, maxConcurrency));
  }

  /** Crawling time so far, all processes of the run together, ms. */
  activeMs(): number {
    return this.#endedMs ?? this.#earlierMs + this.#clock.nowMs() - this.#beganMs;
  }

  /** The crawl is over: what is said of it from now on tells of the same time, however long files take to write. */
  end(): void {
    this.#endedMs = this.activeMs();
  }

  /** The hosts' records as they are now, to read from; those of the most requests are kept apart. */
  hosts(): ReadonlyMap<string, Readonly<HostRecord>> {
    return this.#hosts;
  }

  toState(): RecorderState {
    return {
      version: STATE_VERSION,
      run: this.#run,
      startedAtMs: this.#startedAtMs,
      activeMs: this.activeMs(),
      sessions: [...this.#sessions],
      hosts: Object.fromEntries([...this.#hosts].map(([host, record]) => [host, record.toState()])),
      skipped: Object.fromEntries(this.#skipped),
      failures: this.#failures.list(),
      events: this.#events.toState(),
      timeline: this.#timeline.toState(),
      slots: { ...this.#slots },
      connections: addConnections(this.#earlierConnections, this.#connections),
    };
  }

  #weighSlots(elapsedMs: number, share: number): void {
    this.#slots.weighedMs += elapsedMs;
    this.#slots.usedMs += elapsedMs * Math.min(share, 1);
  }

  #host(host: string): HostRecord {
    const found = this.#hosts.get(host);
    if (found !== undefined) return found;
    if (this.#hosts.size >= 2 * MOST_HOSTS) this.#foldSmallHosts();
    const fresh = new HostRecord();
    this.#hosts.set(host, fresh);
    return fresh;
  }

  #foldSmallHosts(): void {
    const rest = this.#hosts.get(OTHER_HOSTS) ?? new HostRecord();
    this.#hosts.delete(OTHER_HOSTS);
    const bySize = [...this.#hosts].sort(([, a], [, b]) => weightOf(b) - weightOf(a));
    for (const [host, record] of bySize.slice(MOST_HOSTS - 1)) {
      rest.merge(record);
      this.#hosts.delete(host);
    }
    this.#hosts.set(OTHER_HOSTS, rest);
  }
}

function addConnections(earlier: ConnectionCounts, current: ConnectionCounts): ConnectionCounts {
  return {
    opened: earlier.opened + current.opened,
    requests: earlier.requests + current.requests,
    http2Requests: earlier.http2Requests + current.http2Requests,
    waiting: current.waiting,
  };
}

function weightOf(record: HostRecord): number {
  return record.attempts + record.failed + record.skipped;
}

function freshState(run: string, wallMs: number): RecorderState {
  return {
    version: STATE_VERSION,
    run,
    startedAtMs: wallMs,
    activeMs: 0,
    sessions: [],
    hosts: {},
    skipped: {},
    failures: [],
    events: { events: [], counts: {} },
    timeline: new Timeline().toState(),
    slots: { weighedMs: 0, usedMs: 0 },
    connections: { opened: 0, requests: 0, http2Requests: 0, waiting: 0 },
  };
}
