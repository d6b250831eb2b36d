import { type DiagnosisFacts, type HostFacts, hostFacts } from './facts.ts';
import { IDLE_CAUSES, type IdleCause, type SlotAccountState } from './slot-account.ts';

/** Where slot-time goes. */
export type Category =
  | 'server'
  | 'round-trips'
  | 'handshakes'
  | 'download'
  | 'connection-wait'
  | 'politeness'
  | 'discovery'
  | 'knee'
  | 'retries'
  | 'own-process'
  | 'storage'
  | 'handler'
  | 'empty';

/** A part of the crawl's slot-time. `share` is of all of it; the shares of all parts add up to 1. */
export type Part = { category: Category; cause: IdleCause | null; host: string | null; ms: number; share: number };

/** The crawl's slot-time, taken apart. */
export type Split = { parts: Part[]; hosts: HostFacts[]; slots: SlotAccountState };

type Amount = Omit<Part, 'share'>;

// Sampled a few times a second, so less than this may be noise of the sampling.
const LEAST_UNACCOUNTED_SHARE = 0.1;

/**
 * Takes the slot-time that the configuration allows apart: what requests spent on the wire, phase by phase; what slots
 * stood idle for; what had nothing to send. Wire time is exact, idle time is sampled.
 * @returns null when there is no slot-time to speak of
 */
export function splitTime(facts: DiagnosisFacts): Split | null {
  const { slots } = facts;
  const hosts = hostFacts(facts);
  if (slots.slotMs <= 0 || hosts.length === 0) return null;
  const used = [...hosts.flatMap((host) => hostParts(host, slots)), ...betweenParts(hosts, slots)];
  const usedMs = sum(used);
  const emptyMs = Math.min(slots.emptyMs, Math.max(0, slots.slotMs - usedMs));
  const idle = idleParts({ hosts, slots }, Math.max(0, slots.slotMs - usedMs - emptyMs));
  const amounts = [...used, ...idle, amount('empty', emptyMs)].filter(({ ms }) => ms > 0);
  const totalMs = sum(amounts);
  if (totalMs <= 0) return null;
  return { parts: merged(amounts).map((part) => ({ ...part, share: part.ms / totalMs })), hosts, slots };
}

/** One host's time in slots, without what its failed and rejected attempts took. */
function hostParts(host: HostFacts, slots: SlotAccountState): Amount[] {
  const { attempts, answered, limited } = host;
  const limitedShare = Math.min(1, limited / attempts);
  const failedShare = Math.max(0, (attempts - answered - limited) / attempts);
  const goodShare = Math.max(0, 1 - limitedShare - failedShare);
  const wireMs = host.handshakeMs + host.firstByteMs + host.downloadMs;
  const roundTripsMs = Math.min((host.roundTripMs ?? 0) * attempts, host.firstByteMs);
  const ourDelayMs = ownDelayMs(host, slots);
  const serverMs = Math.max(0, host.firstByteMs - roundTripsMs - ourDelayMs);
  const downloadMs = Math.max(0, host.downloadMs - Math.max(0, ourDelayMs - (host.firstByteMs - roundTripsMs)));
  return [
    amount('handshakes', host.handshakeMs * goodShare, host.host),
    amount('round-trips', roundTripsMs * goodShare, host.host),
    amount('server', serverMs * goodShare, host.host),
    amount('download', downloadMs * goodShare, host.host),
    amount('own-process', ourDelayMs * goodShare),
    amount('handler', host.parseMs + host.handlerMs, host.host),
    amount('retries', wireMs * failedShare, host.host),
    { ...amount('politeness', wireMs * limitedShare, host.host), cause: limitedShare > 0 ? 'discovered-limit' : null },
  ];
}

/** While the process was overloaded, answers waited for it: what they took beyond the least is its delay. */
function ownDelayMs(host: HostFacts, { overloadedMs, weighedMs }: SlotAccountState): number {
  if (host.baseMs === null || weighedMs <= 0) return 0;
  const excessMs = host.firstByteMs + host.downloadMs - host.baseMs * host.attempts;
  return Math.max(0, excessMs) * (overloadedMs / weighedMs);
}

/** In flight, and in no phase of any answer: waiting for a connection, or for answers that never came. */
function betweenParts(hosts: readonly HostFacts[], { wireMs, waitingMs }: SlotAccountState): Amount[] {
  const knownMs = hosts.reduce((total, host) => total + host.handshakeMs + host.firstByteMs + host.downloadMs, 0);
  // Who waits while its connection is opened is counted by the handshake already.
  const handshakeMs = hosts.reduce((total, host) => total + host.handshakeMs, 0);
  const forConnectionMs = Math.max(0, waitingMs - handshakeMs);
  const silentMs = wireMs - knownMs - forConnectionMs;
  const silent = hosts.toSorted((a, b) => failureCount(b) - failureCount(a))[0];
  const isReal = silent !== undefined && failureCount(silent) > 0 && silentMs > wireMs * LEAST_UNACCOUNTED_SHARE;
  return [amount('connection-wait', forConnectionMs), amount('retries', isReal ? silentMs : 0, silent?.host)];
}

function failureCount({ failures }: HostFacts): number {
  return Object.values(failures).reduce((total, count) => total + count, 0);
}

/** What the slots stood idle for, in the proportions seen by sampling. */
function idleParts({ hosts, slots: { idle } }: Pick<Split, 'hosts' | 'slots'>, idleMs: number): Amount[] {
  const withKnee = new Set(hosts.filter(({ kneeConcurrency }) => kneeConcurrency !== null).map(({ host }) => host));
  const seen = IDLE_CAUSES.flatMap((cause) =>
    Object.entries(idle[cause] ?? {}).map(([host, ms]): Amount => {
      const category = cause === 'discovery' && withKnee.has(host) ? 'knee' : categoryOf(cause);
      return { category, cause, host, ms };
    }),
  );
  const seenMs = sum(seen);
  if (seenMs <= 0) return [amount('own-process', idleMs)];
  return seen.map((part) => ({ ...part, ms: (part.ms / seenMs) * idleMs }));
}

function categoryOf(cause: IdleCause): Category {
  if (cause === 'retry-wait') return 'retries';
  if (cause === 'storage' || cause === 'own-process' || cause === 'discovery') return cause;
  return 'politeness';
}

/** One part for each category; of politeness one for each rule and host. Its host is the one with most of it. */
function merged(amounts: readonly Amount[]): Amount[] {
  const groups = Map.groupBy(amounts, ({ category, cause, host }) =>
    category === 'politeness' ? `${category} ${cause} ${host}` : category,
  );
  return [...groups.values()].map((group) => {
    const largest = group.reduce((most, part) => (part.ms > most.ms ? part : most));
    return { ...largest, ms: sum(group) };
  });
}

function amount(category: Category, ms: number, host: string | null = null): Amount {
  return { category, cause: null, host, ms };
}

function sum(parts: readonly { ms: number }[]): number {
  return parts.reduce((total, { ms }) => total + ms, 0);
}
