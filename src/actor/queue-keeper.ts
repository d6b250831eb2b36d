import type { Clock } from '../core/clock.ts';
import type { Lease, NewRequest, Outcome, QueueStore, RunStore } from '../storage/store.ts';
import { HandledMarks } from './handled-marks.ts';
import { mirroredQueue } from './mirrored-queue.ts';
import type { Platform } from './platform.ts';
import { newRequestOf, resultOf } from './queued-request.ts';

const VALUES_RECORD = 'MILLRACE-VALUES';
/** Positions of rows in the run's file, which is another one in each container. */
const POSITION_PREFIX = 'actor:dataset:';
const PAGE = 1_000;
// Longer than it takes to look at all of a large queue: what waits must not be given out twice.
const LEASE_MS = 3_600_000;

type Handled = Extract<Outcome, { kind: 'handled' }>;

/**
 * Keeps a run's queue in the platform's request queue, written through: 1 call for 25 requests added, 1 for each handled
 * one, none to take one. The run's own file is what the crawl works with; a new container fills it from there.
 *
 * A request is marked as handled after its records have been handed over: killed in between, it is fetched again.
 */
export class QueueKeeper {
  readonly #platform: Pick<Platform, 'queue' | 'records'>;
  readonly #clock: Pick<Clock, 'wallMs'>;
  #store: RunStore | null = null;
  #marks: HandledMarks | null = null;

  constructor(platform: Pick<Platform, 'queue' | 'records'>, clock: Pick<Clock, 'wallMs'>) {
    this.#platform = platform;
    this.#clock = clock;
  }

  /** Fills the run's store from the platform. @returns the store to crawl with */
  async keep(
    store: RunStore,
    { handOver, fail }: { handOver: () => Promise<void>; fail: (error: unknown) => void },
  ): Promise<RunStore> {
    const { queue, records } = this.#platform;
    this.#store = store;
    await restoreValues(store, await records.get(VALUES_RECORD));
    await this.#restoreRequests(store.queue);
    this.#marks = new HandledMarks({ queue, before: handOver, fail });
    const mirrored = mirroredQueue(store.queue, {
      remote: queue,
      marks: this.#marks,
      wallMs: () => this.#clock.wallMs(),
    });
    return { queue: mirrored, datasets: store.datasets, values: store.values, close: () => store.close() };
  }

  /** Saves the small values of the run: how far its sources are read, what its hosts have shown. */
  async saveValues(): Promise<void> {
    const entries = await this.#store?.values.entries<unknown>('');
    if (entries !== undefined)
      await this.#platform.records.set(VALUES_RECORD, JSON.stringify(entries), 'application/json');
  }

  /** Marks what is handled, and saves the values. */
  async finish(): Promise<void> {
    await this.#marks?.flush();
    await this.saveValues();
  }

  async #restoreRequests(local: QueueStore): Promise<void> {
    const handled = new Map<string, Handled>();
    let page: NewRequest[] = [];
    for await (const request of this.#platform.queue.list()) {
      page.push(newRequestOf(request));
      const result = resultOf(request);
      if (result !== null) handled.set(request.uniqueKey, result);
      if (page.length < PAGE) continue;
      await local.add(page);
      page = [];
    }
    if (page.length > 0) await local.add(page);
    if (handled.size > 0) await settle(local, handled);
  }
}

async function restoreValues({ values }: RunStore, saved: Buffer | null): Promise<void> {
  if (saved === null) return;
  for (const [key, value] of JSON.parse(saved.toString()) as [string, unknown][]) {
    if ((await values.get(key)) !== null) continue;
    await values.set(key, key.startsWith(POSITION_PREFIX) ? { ...(value as object), seq: 0 } : value);
  }
}

/** Settles requests as they were settled before: the store knows no other way than to take and commit them. */
async function settle(local: QueueStore, handled: ReadonlyMap<string, Handled>): Promise<void> {
  const skipHosts = new Set<string>();
  const waiting: Lease[] = [];
  for (;;) {
    const { requests } = await local.claim({ limit: PAGE, perHost: PAGE, skipHosts, leaseMs: LEASE_MS });
    if (requests.length === 0) break;
    const done = requests.filter(({ uniqueKey }) => handled.has(uniqueKey));
    waiting.push(...requests.filter(({ uniqueKey }) => !handled.has(uniqueKey)).map(({ lease }) => lease));
    const nothing = { records: [], requests: [], values: [], columns: [] };
    await local.commit(done.map(({ lease, uniqueKey }) => ({ lease, outcome: handled.get(uniqueKey)!, ...nothing })));
  }
  await local.release(waiting);
}
