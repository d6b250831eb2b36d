import { performance } from 'node:perf_hooks';
import type { Input } from '../config/input-schema.ts';
import type { KeySnapshot } from '../core/key-snapshot.ts';
import type { HostTick, SlotTick } from '../measure/diagnosis/slot-account.ts';
import { limitsByHost } from '../report/host-record.ts';
import type { Composition } from './compose.ts';
import { hostConfigs } from './host-configs.ts';

// The crawler begins nothing new while 2,000 results wait for the store: near to it, the store sets the pace.
const BEHIND_BACKLOG = 1_500;
// A commit takes some ms. While one takes so long, nothing that is done counts as done.
const BEHIND_COMMIT_MS = 400;
// A look into the store takes a ms or so: one that takes so long holds up the crawl, not the servers.
const HELD_UP_MS = 100;

/** A moment of the crawl, as the monitor has already looked it up. */
export type Moment = {
  /** Monotonic, and epoch. */
  nowMs: number;
  wallMs: number;
  snapshots: readonly KeySnapshot[];
  pending: readonly { host: string; pending: number }[];
};

/** Tells the slot account, a few times a second, what every host is doing and waiting for. */
export class SlotWatch {
  readonly #composition: Composition;
  readonly #input: Input;
  readonly #hostConfig: ReturnType<typeof hostConfigs>;
  #lastMs: number | null = null;
  #lastLoad = performance.eventLoopUtilization();

  constructor(composition: Composition, input: Input) {
    this.#composition = composition;
    this.#input = input;
    this.#hostConfig = hostConfigs(input.hosts);
  }

  look(moment: Moment): void {
    const load = performance.eventLoopUtilization();
    const busyShare = performance.eventLoopUtilization(load, this.#lastLoad).utilization;
    const elapsedMs = this.#lastMs === null ? 0 : moment.nowMs - this.#lastMs;
    this.#lastLoad = load;
    this.#lastMs = moment.nowMs;
    this.#composition.slots.tick(this.#tickOf(moment, { elapsedMs, busyShare }));
  }

  #tickOf(moment: Moment, load: { elapsedMs: number; busyShare: number }): SlotTick {
    const { client } = this.#composition;
    return {
      ...load,
      hosts: this.#hostTicks(moment),
      maxConcurrency: this.#input.maxConcurrency,
      connectionsWaiting: client.stats().waiting,
      isCappedPerMinute: this.#input.maxRequestsPerMinute !== null,
      isStoreBehind: this.#isStoreBehind(moment.nowMs),
      isAllDelayed: this.#isAllDelayed(moment.nowMs),
    };
  }

  #isAllDelayed(nowMs: number): boolean {
    const { queue } = this.#composition;
    const { nextReadyAtMs } = queue;
    return queue.isEmpty() && queue.storeWaitMs === null && nextReadyAtMs !== null && nextReadyAtMs > nowMs;
  }

  #isStoreBehind(nowMs: number): boolean {
    const { queue, heldUp } = this.#composition;
    const isSlow = queue.slowestCommitMs >= BEHIND_COMMIT_MS;
    if (isSlow || (queue.storeWaitMs ?? 0) >= HELD_UP_MS) heldUp.note(nowMs);
    return isSlow || queue.storeWaitMs !== null || queue.backlog >= BEHIND_BACKLOG;
  }

  #hostTicks({ wallMs, snapshots, pending }: Moment): HostTick[] {
    const { recorder, crawlDelayMs, missingRobots, queue } = this.#composition;
    const records = recorder.hosts();
    const limits = limitsByHost(snapshots);
    const paces = paceByHost(snapshots);
    const waiting = new Map(pending.map((entry) => [entry.host, entry.pending]));
    const names = new Set([...limits.keys(), ...waiting.keys()]);
    return Array.from(names, (host): HostTick => {
      const limit = limits.get(host);
      const configured = this.#hostConfig(host).maxConcurrency;
      const parkedUntilMs = limit?.parkedUntilMs ?? null;
      const isGivenUp = limit?.givenUp != null || queue.givenUpHosts.has(host);
      return {
        host,
        pending: waiting.get(host) ?? 0,
        inFlight: limit?.inFlight ?? 0,
        configuredConcurrency: configured,
        concurrency: limit?.concurrency ?? configured,
        paceRps: paces.get(host) ?? null,
        limitSource: limit?.limitSource ?? null,
        isParked: isGivenUp || (parkedUntilMs !== null && parkedUntilMs > wallMs),
        isAwaitingRobots: missingRobots(host) !== null,
        crawlDelayMs: crawlDelayMs(host),
        hasRetried: (records.get(host)?.retries ?? 0) > 0,
        hasBeenLimited: (records.get(host)?.limited ?? 0) > 0,
      };
    });
  }
}

/** @returns the rate each host is paced at over all its keys; a host with an unpaced one is left out */
function paceByHost(snapshots: readonly KeySnapshot[]): Map<string, number> {
  const paces = new Map<string, number>();
  const unpaced = new Set<string>();
  for (const { host, requestsPerSecond } of snapshots) {
    if (requestsPerSecond === null) unpaced.add(host);
    else paces.set(host, (paces.get(host) ?? 0) + requestsPerSecond);
  }
  for (const host of unpaced) paces.delete(host);
  return paces;
}
