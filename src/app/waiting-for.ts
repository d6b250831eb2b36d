import type { KeySnapshot } from '../core/key-snapshot.ts';
import { limitsByHost } from '../report/host-record.ts';
import type { Waiting } from '../report/waiting.ts';

/** A crawl that has work, at one moment. */
export type Standstill = {
  /** Monotonic, and epoch. */
  nowMs: number;
  wallMs: number;
  inFlight: number;
  /** Requests not yet handled, by host. */
  pending: readonly { host: string; pending: number }[];
  /** Of them, those that are leased from the store. */
  leased: number;
  snapshots: readonly KeySnapshot[];
  /** Why the host's robots.txt is not known; null when it is, or not asked for. */
  missingRobots: (host: string) => { reason: string | null; nextFetchAtMs: number | null } | null;
  /** How long the store has been asked for more; null = it is not. */
  storeWaitMs: number | null;
  /** Monotonic time at which something may be sent; null when that is not known. */
  nextReadyAtMs: number | null;
};

// A look into the store takes a ms or so.
const SLOW_STORE_MS = 500;

/** @returns what it waits for; null while something is under way, or about to be */
export function waitingFor(moment: Standstill): Waiting | null {
  const hosts = moment.pending.filter(({ pending }) => pending > 0);
  if (moment.inFlight > 0 || hosts.length === 0) return null;
  return forStore(moment) ?? forRobots(moment, hosts) ?? forParked(moment, hosts) ?? forRetries(moment, hosts);
}

type Hosts = readonly { host: string; pending: number }[];

function forStore({ storeWaitMs }: Standstill): Waiting | null {
  return storeWaitMs !== null && storeWaitMs >= SLOW_STORE_MS ? { kind: 'store', forMs: storeWaitMs } : null;
}

/** Of several hosts that which is tried first. */
function forRobots({ missingRobots, nowMs }: Standstill, hosts: Hosts): Waiting | null {
  const waiting = hosts.flatMap(({ host }) => {
    const missing = missingRobots(host);
    return missing === null ? [] : [{ host, ...missing }];
  });
  if (waiting.length < hosts.length) return null;
  const [first] = waiting.toSorted((a, b) => (a.nextFetchAtMs ?? 0) - (b.nextFetchAtMs ?? 0));
  if (first === undefined) return null;
  const { host, reason, nextFetchAtMs } = first;
  const nextInMs = nextFetchAtMs === null ? null : nextFetchAtMs - nowMs;
  return { kind: 'robots', host, reason, nextInMs, others: waiting.length - 1 };
}

/** Of several hosts that which may be asked first. */
function forParked({ snapshots, wallMs }: Standstill, hosts: Hosts): Waiting | null {
  const limits = limitsByHost(snapshots);
  const parked = hosts
    .map(({ host }) => ({ host, untilMs: limits.get(host)?.parkedUntilMs ?? 0 }))
    .filter(({ untilMs }) => untilMs > wallMs)
    .sort((a, b) => a.untilMs - b.untilMs);
  const [first] = parked;
  if (first === undefined) return null;
  const { host, untilMs } = first;
  const reason = snapshots.find((snapshot) => snapshot.host === host && snapshot.parkedReason !== null)?.parkedReason;
  return { kind: 'parked', host, reason: reason ?? null, forMs: untilMs - wallMs, others: parked.length - 1 };
}

/** Nothing else holds them back, and none of them is at hand: they wait in the store, each for its time. */
function forRetries({ nextReadyAtMs, nowMs, leased }: Standstill, hosts: Hosts): Waiting | null {
  if (nextReadyAtMs === null || nextReadyAtMs <= nowMs) return null;
  const count = hosts.reduce((sum, { pending }) => sum + pending, 0) - leased;
  return count > 0 ? { kind: 'retries', count, nextInMs: nextReadyAtMs - nowMs } : null;
}
