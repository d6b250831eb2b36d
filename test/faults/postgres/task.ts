import type { NewRequest } from '../../../src/storage/store.ts';

/** What a process is told to do with a shared run. */
export type Task = {
  url: string;
  run: string;
  /**
   * work = claim and commit until nothing is left; hold = claim, say so, and commit when told; add = add the same requests
   * as others do.
   */
  kind: 'work' | 'hold' | 'add';
  leaseMs: number;
  /** Requests of a claim, or of an addition. */
  batch: number;
  /** How far this process's clock is ahead, ms. */
  skewMs: number;
  /** Of an addition: how many, and whether from the last to the first. */
  count: number;
  isReverse: boolean;
};

/** What it says at its end. */
export type Done = { committed: number; lost: number; added: number };

export function requestOf(n: number): NewRequest {
  const host = `h${n % 3}.example`;
  const url = `https://${host}/${n}`;
  return { uniqueKey: url, url, host, method: 'GET', label: null, data: null };
}

export function requestsOf(count: number): NewRequest[] {
  return Array.from({ length: count }, (_, n) => requestOf(n));
}
