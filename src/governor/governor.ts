import type { KeySnapshot } from '../core/key-snapshot.ts';
import type { Sample, Verdict } from '../core/sample.ts';

export type { KeySnapshot };

/** How a host's pacing is set; null = no limit of that kind is configured. Slices of config.hosts. */
export type HostPolicy = {
  maxConcurrency: number;
  requestsPerSecond: number | null;
  minDelayMs: number;
  headroom: number;
  discovery: 'auto' | 'off';
  limitScope: 'credential' | 'address';
  stallSecs: number;
  maxServerWaitSecs: number;
};

/** What decides a request's key. `url` is absolute; credential and egress are names or addresses, never secrets. */
export type KeyRequest = { url: string; method: string; credential?: string; egress?: string };

/**
 * Decides when requests of a key may go. A pure function of samples and time: it never waits, never sends.
 * All `nowMs` are of the monotonic clock.
 */
export interface Governor {
  /**
   * The key a request is paced under: by its host, by what `limitScope` says shares a budget, and by the bucket the
   * server has named for such requests before. Ask again when a request is taken up: buckets are learned on the way.
   */
  keyFor(request: KeyRequest): string;
  /**
   * Asks for one send now.
   * @returns 0 when granted (the key's in-flight count and pace are then taken); otherwise the time at which to ask
   *   again (> nowMs), or Infinity when only a finished request or a config change can help
   */
  tryAcquire(key: string, nowMs: number): number;
  /** Gives back a grant that was not used: nothing was sent. */
  cancel(key: string, nowMs: number): void;
  /** The attempt ended: frees its slot and learns from it. */
  finish(sample: Sample): Verdict;
  /** Why the key was given up (no progress for stallSecs, told to wait too long); null while it is not. */
  givenUp(key: string, nowMs: number): string | null;
  /**
   * Why a failure of the key is final, retries left or not: its name never resolved or its port never accepted a
   * connection, for so long that it is no restart. null while it is not.
   */
  deadReason(key: string): string | null;
  /** How many more sends the key could take within the next `horizonMs`: sizes the local buffer. */
  appetite(key: string, nowMs: number, horizonMs: number): number;
  snapshot(nowMs: number): KeySnapshot[];
}

/** A governor that shares its limits with others: what they find and are told can be handed to it. */
export interface FollowingGovernor extends Governor {
  /** The part of the key's limit that is ours is by so much larger or smaller; only what was found out moves. */
  rescale(key: string, factor: number): void;
  /** Sends of the key are held to this rate elsewhere; null = they are not. */
  boundBy(key: string, requestsPerSecond: number | null): void;
  /** Another one has found the limit: it was refused at `limitRps` and goes at `requestsPerSecond`. */
  adopt(key: string, level: { limitRps: number; requestsPerSecond: number; nowMs: number }): void;
  /** Another one that sends as we do was refused, and told to wait. */
  refusedElsewhere(key: string, wait: { nowMs: number; waitMs: number }): void;
}
