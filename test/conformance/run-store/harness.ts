import { afterEach, beforeEach } from 'vitest';
import { silentLog } from '../../../src/core/log.ts';
import type { Ports } from '../../../src/core/ports.ts';
import type {
  ClaimOptions,
  LeasedRequest,
  NewRequest,
  Outcome,
  RunStore,
  UnitOfWork,
} from '../../../src/storage/store.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

/** One run of the backend under test, empty at first. */
export type TestRun = {
  /** Opens it, as its owner unless told otherwise; several times at once when joined. */
  open(ports: Ports, access?: 'own' | 'join'): Promise<RunStore>;
  /** Removes it. All stores are closed by then. */
  remove(): Promise<void>;
};

export type CreateRun = () => Promise<TestRun>;

/** What each test starts from: an empty run, open, on a clock of its own. */
export class Bench {
  readonly clock = new FakeClock();
  readonly ports: Ports = { clock: this.clock, random: Math.random, log: silentLog };
  readonly #run: TestRun;
  readonly #opened: RunStore[] = [];
  store!: RunStore;

  constructor(run: TestRun) {
    this.#run = run;
  }

  async open(access: 'own' | 'join' = 'own'): Promise<RunStore> {
    const store = await this.#run.open(this.ports, access);
    this.#opened.push(store);
    return store;
  }

  async reopen(): Promise<void> {
    await this.store.close();
    this.store = await this.open();
  }

  async end(): Promise<void> {
    for (const store of this.#opened) await store.close();
    await this.#run.remove();
  }
}

/** @returns the bench of the test that runs now */
export function useBench(createRun: CreateRun): () => Bench {
  let bench: Bench;
  beforeEach(async () => {
    bench = new Bench(await createRun());
    bench.store = await bench.open();
  });
  afterEach(() => bench.end());
  return () => bench;
}

export const LEASE_MS = 60_000;

/** A request of host h, path p: `request('a.example', 1)`. */
export function request(host: string, path: number | string, more: Partial<NewRequest> = {}): NewRequest {
  const url = `https://${host}/${path}`;
  return { uniqueKey: url, url, host, method: 'GET', label: null, data: null, ...more };
}

export function requests(host: string, count: number): NewRequest[] {
  return Array.from({ length: count }, (_, i) => request(host, i));
}

export function claimOptions(more: Partial<ClaimOptions> = {}): ClaimOptions {
  return { limit: 1_000, perHost: 1_000, skipHosts: new Set(), leaseMs: LEASE_MS, ...more };
}

export async function claimAll(store: RunStore, more: Partial<ClaimOptions> = {}): Promise<LeasedRequest[]> {
  return (await store.queue.claim(claimOptions(more))).requests;
}

export async function claimOne(store: RunStore): Promise<LeasedRequest> {
  const [leased] = await claimAll(store, { limit: 1 });
  if (!leased) throw new Error('Nothing to claim');
  return leased;
}

export const SUCCEEDED: Outcome = { kind: 'handled', result: 'succeeded', reason: null, patch: null };

export function failed(code: string): Outcome {
  return { kind: 'handled', result: 'failed', reason: code, patch: null };
}

export function retry(more: Partial<Extract<Outcome, { kind: 'retry' }>> = {}): Outcome {
  return { kind: 'retry', notBeforeMs: null, patch: null, forefront: false, ...more };
}

export function unit({ lease }: Pick<LeasedRequest, 'lease'>, more: Partial<UnitOfWork> = {}): UnitOfWork {
  return { lease, outcome: SUCCEEDED, records: [], requests: [], values: [], columns: [], ...more };
}

export async function commitOne(store: RunStore, work: UnitOfWork): Promise<{ status: string; added: number }> {
  const [result] = await store.queue.commit([work]);
  return result!;
}

export async function rowsOf(store: RunStore, dataset: string): Promise<string[]> {
  const rows = await store.datasets.page(dataset, { afterSeq: 0, limit: 100_000 });
  return rows.map(({ json }) => json);
}

export function urlsOf(leased: readonly LeasedRequest[]): string[] {
  return leased.map(({ url }) => url);
}
