import type { Log } from '../core/log.ts';
import { FAILURES_DATASET, INVALID_DATASET } from '../crawl/failure-record.ts';
import type { DatasetInfo, RunStore } from '../storage/store.ts';
import { type Batch, batchesOf, type Oversized } from './batches.ts';
import type { Platform } from './platform.ts';

/** How far a dataset of the run has been handed over, and to which one of the platform. */
type Position = { datasetId: string; seq: number; count: number };

/** A dataset of the platform that holds one of the run's. */
export type HandedDataset = { name: string; id: string; count: number };

const KEY_PREFIX = 'actor:dataset:';
const DATASETS_RECORD = 'MILLRACE-DATASETS';
const ROWS_PER_PAGE = 2_000;

/**
 * Hands committed records over to datasets of the platform, each run dataset to one of its own, in order. A record may
 * come twice, as the platform and the run's store share no transaction; none is left out.
 */
export class DatasetHandover {
  readonly #platform: Pick<Platform, 'defaultDatasetId' | 'createDataset' | 'itemCount' | 'push' | 'records'>;
  readonly #store: RunStore;
  readonly #mainDataset: string;
  readonly #log: Log;
  readonly #positions = new Map<string, Position>();
  #working: Promise<void> = Promise.resolve();

  constructor(options: {
    platform: Pick<Platform, 'defaultDatasetId' | 'createDataset' | 'itemCount' | 'push' | 'records'>;
    store: RunStore;
    /** Goes to the run's default dataset; where it has no record, the first one that has. */
    mainDataset: string;
    log: Log;
  }) {
    this.#platform = options.platform;
    this.#store = options.store;
    this.#mainDataset = options.mainDataset;
    this.#log = options.log;
  }

  /** What has been handed over so far. */
  get datasets(): HandedDataset[] {
    return [...this.#positions].map(([name, { datasetId, count }]) => ({ name, id: datasetId, count }));
  }

  /** Hands over all that has been committed since. Calls queue up. */
  catchUp(): Promise<void> {
    const work = this.#working.then(() => this.#handOverAll());
    this.#working = work.catch(() => undefined);
    return work;
  }

  async #handOverAll(): Promise<void> {
    const datasets = (await this.#store.datasets.list()).filter(({ count }) => count > 0);
    const isMain = ({ name }: DatasetInfo): number => Number(name === this.#mainDataset);
    for (const { name } of datasets.sort((a, b) => isMain(b) - isMain(a))) await this.#handOver(name);
  }

  async #handOver(name: string): Promise<void> {
    const position = this.#positions.get(name) ?? (await this.#open(name));
    this.#positions.set(name, position);
    for (;;) {
      const rows = await this.#store.datasets.page(name, { afterSeq: position.seq, limit: ROWS_PER_PAGE });
      const last = rows.at(-1);
      if (last === undefined) return;
      const { batches, oversized } = batchesOf(rows);
      for (const row of oversized) await this.#keepAside(name, row);
      for (const batch of batches) await this.#push(name, position, batch);
      position.seq = last.seq;
      await this.#save(name, position);
      // What has come meanwhile goes with the next call, rather than in one of its own.
      if (rows.length < ROWS_PER_PAGE) return;
    }
  }

  async #push(name: string, position: Position, { body, count, lastSeq }: Batch): Promise<void> {
    await this.#platform.push(position.datasetId, body);
    position.seq = lastSeq;
    position.count += count;
    await this.#save(name, position);
  }

  async #open(name: string): Promise<Position> {
    const stored = await this.#store.values.get<Position>(KEY_PREFIX + name);
    if (stored !== null) return stored;
    const known = await this.#knownDatasets();
    const id = known[name];
    if (id !== undefined) return { datasetId: id, seq: 0, count: await this.#platform.itemCount(id) };
    const { defaultDatasetId, records } = this.#platform;
    const takesDefault = holdsRecords(name) && !Object.values(known).includes(defaultDatasetId);
    const datasetId = takesDefault ? defaultDatasetId : await this.#platform.createDataset();
    known[name] = datasetId;
    await records.set(DATASETS_RECORD, JSON.stringify(known), 'application/json');
    return { datasetId, seq: 0, count: 0 };
  }

  /** Ids by name: kept apart from the run's file, of which a container may have an older one, or none. */
  async #knownDatasets(): Promise<Record<string, string>> {
    const record = await this.#platform.records.get(DATASETS_RECORD);
    return record === null ? {} : (JSON.parse(record.toString()) as Record<string, string>);
  }

  #save(name: string, position: Position): Promise<void> {
    return this.#store.values.set(KEY_PREFIX + name, position);
  }

  async #keepAside(name: string, { seq, json, bytes }: Oversized): Promise<void> {
    const key = `RECORD-${name.replaceAll(/[^A-Za-z0-9-]/g, '-')}-${seq}`;
    await this.#platform.records.set(key, json, 'application/json');
    this.#log.warn(`A record of ${name} has ${bytes} bytes, more than a dataset takes: it is key-value record ${key}`);
  }
}

/** @returns whether a dataset holds records; the others tell of what went wrong */
export function holdsRecords(name: string): boolean {
  return name !== FAILURES_DATASET && name !== INVALID_DATASET;
}
