import type { KeySnapshot } from '../../core/key-snapshot.ts';
import { OTHER_HOSTS } from '../../report/failure-groups.ts';
import type { HostRecord } from '../../report/host-record.ts';
import type { ConnectionCounts } from '../../report/recorder.ts';

/** What is read when somebody scrapes: the state as it is then. */
export type MetricsSource = {
  hosts: () => ReadonlyMap<string, Readonly<HostRecord>>;
  snapshots: () => readonly KeySnapshot[];
  queue: () => { pending: number; succeeded: number; failed: number; skipped: number };
  /** Requests taken from the store and not yet settled. */
  leased: () => number;
  /** Results that wait for the store. */
  backlog: () => number;
  connections: () => ConnectionCounts;
  /** Whether the crawl takes up requests: not before it has begun, nor once it is stopping. */
  isReady: () => boolean;
};

/** So many hosts have labels of their own; those of fewer requests are added up. */
const MOST_HOSTS = 100;

/** @returns the hosts to show, by label; several under one label are to be added up */
export function labelledHosts(
  hosts: ReadonlyMap<string, Readonly<HostRecord>>,
): { label: string; host: string; record: Readonly<HostRecord> }[] {
  return [...hosts]
    .sort(([, a], [, b]) => b.attempts - a.attempts)
    .map(([host, record], index) => ({ label: index < MOST_HOSTS ? host : OTHER_HOSTS, host, record }));
}
