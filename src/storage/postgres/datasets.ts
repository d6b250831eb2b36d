import type { DatasetInfo, DatasetStore, RowReplacement, StoredRecord, StoredRequest, UnitOfWork } from '../store.ts';
import { CounterChanges } from './counters.ts';
import { type ReplacementParts, Replacements } from './replacements.ts';
import { writeColumns } from './small-tables.ts';

export type DatasetParts = ReplacementParts & {
  /** The request of a row id. */
  storedRequest: (requestId: number) => Promise<StoredRequest | null>;
};

/** The datasets of one run. */
export class PostgresDatasets implements DatasetStore {
  readonly #parts: DatasetParts;
  readonly #replacements: Replacements;
  /** All rows up to this seq can be read, and none will be added below it. */
  #readableUpTo = 0;

  constructor(parts: DatasetParts) {
    this.#parts = parts;
    this.#replacements = new Replacements(parts);
  }

  async list(): Promise<DatasetInfo[]> {
    const counts = await this.#parts.counters.datasets();
    return (await this.#parts.datasets.list()).map(({ id, name }) => ({ name, count: counts.get(id) ?? 0 }));
  }

  async push(dataset: string, jsons: readonly string[]): Promise<void> {
    if (jsons.length === 0) return;
    const { database, datasets, records, counters } = this.#parts;
    const datasetId = (await datasets.idsOf([dataset])).get(dataset) as number;
    await database.transaction(async (transaction) => {
      const changes = new CounterChanges();
      records.announce(transaction);
      records.append(
        transaction,
        jsons.map((json) => ({ datasetId, requestId: null, json })),
        changes,
      );
      counters.write(transaction, changes);
    });
  }

  async page(dataset: string, { afterSeq, limit }: { afterSeq: number; limit: number }): Promise<StoredRecord[]> {
    const { database, datasets, records, tables } = this.#parts;
    const id = await datasets.find(dataset);
    if (id === null) return [];
    const read = (): Promise<StoredRecord[]> =>
      database.rows(
        `SELECT seq, json FROM ${tables.dataset_row} WHERE dataset_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4`,
        [id, afterSeq, this.#readableUpTo, limit],
      );
    if (this.#readableUpTo > afterSeq) {
      const rows = await read();
      if (rows.length === limit) return rows;
    }
    this.#readableUpTo = await records.readableUpTo();
    return read();
  }

  async requestOf(dataset: string, seq: number): Promise<StoredRequest | null> {
    const { database, datasets, tables, storedRequest } = this.#parts;
    const id = await datasets.find(dataset);
    if (id === null) return null;
    const sql = `SELECT request_id FROM ${tables.dataset_row} WHERE dataset_id = $1 AND seq = $2`;
    const [row] = await database.rows<{ request_id: number | null }>(sql, [id, seq]);
    return row === undefined || row.request_id === null ? null : storedRequest(row.request_id);
  }

  async columns(dataset: string): Promise<string[]> {
    const { database, datasets, tables } = this.#parts;
    const id = await datasets.find(dataset);
    if (id === null) return [];
    const sql = `SELECT path FROM ${tables.dataset_column} WHERE dataset_id = $1 ORDER BY position`;
    return (await database.rows<{ path: string }>(sql, [id])).map(({ path }) => path);
  }

  async addColumns(dataset: string, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const { database, datasets, tables } = this.#parts;
    const datasetId = (await datasets.idsOf([dataset])).get(dataset) as number;
    await database.transaction(async (transaction) =>
      writeColumns(
        transaction,
        tables,
        paths.map((path) => ({ datasetId, path })),
      ),
    );
  }

  async replace(
    dataset: string,
    replacements: readonly RowReplacement[],
    columns: UnitOfWork['columns'],
  ): Promise<{ replaced: number; added: number }> {
    const id = await this.#parts.datasets.find(dataset);
    if (id === null) return { replaced: 0, added: 0 };
    return this.#replacements.replace(id, replacements, columns);
  }

  async drop(dataset: string): Promise<void> {
    const { database, datasets, tables } = this.#parts;
    const id = await datasets.find(dataset);
    if (id === null) return;
    datasets.forget(dataset);
    await database.transaction(async (transaction) => {
      transaction.run(`DELETE FROM ${tables.dataset} WHERE id = $1`, [id]);
      transaction.run(`DELETE FROM ${tables.dataset_column} WHERE dataset_id = $1`, [id]);
      transaction.run(`DELETE FROM ${tables.dataset_row} WHERE dataset_id = $1`, [id]);
    });
  }
}
