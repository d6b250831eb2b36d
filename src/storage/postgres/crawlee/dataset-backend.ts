import type { DatasetInfo } from '@crawlee/types';
import { ColumnTracker } from '../../../export/flatten.ts';
import type { DatasetBackend, DatasetRange } from '../../crawlee/dataset-client.ts';
import type { Transaction } from '../database.ts';
import { infoOf, type PostgresStorage, type PostgresStorages } from './storages.ts';

type Mark = { rowId: number; offset: number; seq: number };

const ROWS_A_LOOK = 1_000;

/** One of Crawlee's datasets. Who reads page after page goes on from where the last one ended. */
export class PostgresDatasetBackend implements DatasetBackend {
  readonly #idOrName: string;
  readonly #storages: PostgresStorages;
  #mark: Mark | null = null;

  constructor(idOrName: string, storages: PostgresStorages) {
    this.#idOrName = idOrName;
    this.#storages = storages;
  }

  async info(): Promise<DatasetInfo | undefined> {
    return this.#storages.database.transaction(async (transaction) => {
      const found = await this.#storages.find(transaction, this.#idOrName);
      return found && datasetInfoOf(found);
    });
  }

  async rename(name: string | undefined): Promise<DatasetInfo> {
    return this.#storages.database.transaction(async (transaction) => {
      const found = await this.#storages.requireLocked(transaction, this.#idOrName);
      if (name !== undefined) await this.#storages.rename(transaction, found, name);
      return datasetInfoOf(await this.#storages.require(transaction, found.id));
    });
  }

  remove(): Promise<void> {
    this.#mark = null;
    return this.#storages.remove(this.#idOrName);
  }

  async push(jsons: readonly string[]): Promise<void> {
    const { database } = this.#storages;
    await database.transaction(async (transaction) => {
      // Its row is locked by that, so that items come in the order in which they are committed.
      const found = await this.#storages.requireLocked(transaction, this.#idOrName);
      transaction.run(
        `INSERT INTO ${this.#storages.table('item')} (storage_id, json)
         SELECT $1::bigint, json FROM unnest($2::text[]) WITH ORDINALITY AS u(json, place) ORDER BY place`,
        [found.rowId, jsons],
      );
      const sql = `UPDATE ${this.#storages.table('storage')} SET total = total + $1, modified_at = $2, accessed_at = $2 WHERE id = $3`;
      transaction.run(sql, [jsons.length, await this.#storages.now(transaction), found.rowId]);
    });
  }

  async rows(range: DatasetRange): Promise<{ jsons: string[]; total: number }> {
    return this.#storages.database.transaction(async (transaction) => {
      const { rowId, total } = await this.#storages.require(transaction, this.#idOrName);
      return { jsons: await this.#read(transaction, rowId, range), total };
    });
  }

  async columns(): Promise<string[]> {
    const tracker = new ColumnTracker([]);
    const paths: string[] = [];
    for (let offset = 0; ; ) {
      const { jsons } = await this.rows({ offset, limit: ROWS_A_LOOK, desc: false });
      for (const json of jsons) paths.push(...tracker.add(json));
      if (jsons.length < ROWS_A_LOOK) return paths;
      offset += jsons.length;
    }
  }

  async #read(transaction: Transaction, rowId: number, { offset, limit, desc }: DatasetRange): Promise<string[]> {
    const isMarked = !desc && this.#mark?.rowId === rowId && this.#mark.offset === offset;
    const afterSeq = isMarked ? this.#mark!.seq : 0;
    const rows = await transaction.rows<{ seq: number; json: string }>(
      `SELECT seq, json FROM ${this.#storages.table('item')} WHERE storage_id = $1 AND seq > $2
       ORDER BY seq ${desc ? 'DESC' : 'ASC'} LIMIT $3 OFFSET $4`,
      [rowId, afterSeq, limit, isMarked ? 0 : offset],
    );
    const last = rows.at(-1);
    // Descending offsets move when rows are added at the end, so only ascending ones are remembered.
    if (last !== undefined && !desc) this.#mark = { rowId, offset: offset + rows.length, seq: last.seq };
    return rows.map(({ json }) => json);
  }
}

export function datasetInfoOf(storage: PostgresStorage): DatasetInfo {
  return { ...infoOf(storage), itemCount: storage.total };
}
