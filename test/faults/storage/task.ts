import type { NewRequest } from '../../../src/storage/store.ts';

/** What a process of the fault tests does; it says what happened by messages. */
export type Task =
  | { kind: 'claim-and-wait'; storageDir: string; access: 'own' | 'join'; leaseMs: number; limit: number }
  | { kind: 'work'; storageDir: string }
  | { kind: 'die-in-commit'; storageDir: string; limit: number }
  | { kind: 'commit-and-wait'; storageDir: string; limit: number }
  | { kind: 'add'; storageDir: string; from: number; to: number }
  | { kind: 'hold-write-lock'; file: string; holdMs: number }
  | { kind: 'push-and-wait'; storageDir: string; rows: number }
  | { kind: 'open-and-wait'; storageDir: string; access: 'own' | 'join' }
  | { kind: 'use-crawlee'; file: string };

export function faultUrl(n: number): string {
  return `https://h${n % 7}.example/${n}`;
}

export function requestOf(n: number): NewRequest {
  const url = faultUrl(n);
  return { uniqueKey: url, url, host: new URL(url).host, method: 'GET', label: null, data: null };
}
