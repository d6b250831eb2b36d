import { EnvironmentError } from '../core/errors.ts';
import type { LeasedRequest, NewRequest, QueueStore } from '../storage/store.ts';
import type { HandledMarks } from './handled-marks.ts';
import type { PlatformQueue } from './platform.ts';
import { queuedRequestOf } from './queued-request.ts';

export type Mirror = { remote: Pick<PlatformQueue, 'add'>; marks: HandledMarks; wallMs: () => number };

/**
 * A queue whose additions and outcomes are written to the platform's queue, too. What is added is there before it is here,
 * so whatever the run's other state says was added, is.
 */
export function mirroredQueue(local: QueueStore, { remote, marks, wallMs }: Mirror): QueueStore {
  const leased = new Map<number, LeasedRequest>();
  const addRemotely = async (requests: readonly NewRequest[], forefront: boolean): Promise<void> => {
    const isNew = await Promise.all(requests.map(async ({ uniqueKey }) => (await local.get(uniqueKey)) === null));
    const fresh = requests.filter((_, index) => isNew[index]);
    if (fresh.length === 0) return;
    const { unprocessed } = await remote.add(
      fresh.map((request) => queuedRequestOf(request)),
      { forefront },
    );
    if (unprocessed > 0) throw new EnvironmentError(`The platform's request queue has refused ${unprocessed} requests`);
  };
  return {
    add: async (requests, options) => {
      await addRemotely(requests, options?.forefront === true);
      return local.add(requests, options);
    },
    claim: async (options) => {
      const claim = await local.claim(options);
      for (const request of claim.requests) leased.set(request.lease.requestId, request);
      return claim;
    },
    commit: async (units) => {
      await addRemotely(
        units.flatMap(({ requests }) => requests),
        false,
      );
      const results = await local.commit(units);
      const handled = units.flatMap(({ lease, outcome }, index) => {
        const request = leased.get(lease.requestId);
        leased.delete(lease.requestId);
        if (request === undefined || outcome.kind !== 'handled' || results[index]!.status !== 'committed') return [];
        return [queuedRequestOf(request, { ...outcome, atMs: wallMs() })];
      });
      if (handled.length > 0) await marks.add(handled);
      return results;
    },
    release: async (leases) => {
      for (const { requestId } of leases) leased.delete(requestId);
      await local.release(leases);
    },
    renew: (leases, leaseMs) => local.renew(leases, leaseMs),
    releaseAll: () => local.releaseAll(),
    requeue: (selection) => local.requeue(selection),
    handled: (selection, fromId) => local.handled(selection, fromId),
    get: (uniqueKey) => local.get(uniqueKey),
    counts: () => local.counts(),
    skipReasons: () => local.skipReasons(),
    failureReasons: () => local.failureReasons(),
    pendingHosts: (limit) => local.pendingHosts(limit),
  };
}
