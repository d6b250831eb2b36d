import type { DatasetInfo, Dictionary } from '@crawlee/types';
import type { Connect, Connection } from './connection.ts';
import { type DatasetBackend, type DatasetRange, StoredDatasetClient } from './dataset-client.ts';
import { DatasetCursor } from './dataset-cursor.ts';
import { infoOf, type StorageRow } from './storage-registry.ts';

/** One dataset in an SQLite file. */
export class SqliteDatasetClient<Data extends Dictionary = Dictionary> extends StoredDatasetClient<Data> {
  constructor(idOrName: string, connect: Connect) {
    super(idOrName, new SqliteDatasetBackend(idOrName, connect));
  }
}

class SqliteDatasetBackend implements DatasetBackend {
  readonly #idOrName: string;
  readonly #connect: Connect;
  #cursor: DatasetCursor | null = null;

  constructor(idOrName: string, connect: Connect) {
    this.#idOrName = idOrName;
    this.#connect = connect;
  }

  async info(): Promise<DatasetInfo | undefined> {
    const connection = await this.#connect();
    return connection.database.read(() => {
      const row = connection.datasets.findForReading(this.#idOrName, connection.clock.wallMs());
      return row && infoOfDataset(connection, row);
    });
  }

  async rename(name: string | undefined): Promise<DatasetInfo> {
    const connection = await this.#connect();
    return connection.database.write(() => {
      const row = connection.datasets.require(this.#idOrName);
      if (name !== undefined) connection.datasets.rename(row, name, connection.clock.wallMs());
      return infoOfDataset(connection, connection.datasets.require(row.id));
    });
  }

  async remove(): Promise<void> {
    const connection = await this.#connect();
    await connection.database.write(() => {
      const row = connection.datasets.find(this.#idOrName);
      if (row) connection.records.drop(row.rowId);
    });
    this.#cursor = null;
  }

  async push(jsons: readonly string[]): Promise<void> {
    const connection = await this.#connect();
    const nowMs = connection.clock.wallMs();
    await connection.database.write(() => {
      const row = connection.datasets.require(this.#idOrName);
      connection.records.appendAll(row.rowId, jsons, nowMs);
      connection.columns.keep(row, jsons);
      connection.datasets.noteChange(row.rowId, nowMs);
    });
  }

  async rows(range: DatasetRange): Promise<{ jsons: string[]; total: number }> {
    const connection = await this.#connect();
    return connection.database.read(() => {
      const { rowId } = connection.datasets.requireForReading(this.#idOrName, connection.clock.wallMs());
      return { jsons: this.#cursorOf(connection, rowId).read(range), total: connection.records.countOf(rowId) };
    });
  }

  async columns(): Promise<string[]> {
    const { database, datasets, columns, clock } = await this.#connect();
    return database.read(() => columns.of(datasets.requireForReading(this.#idOrName, clock.wallMs())));
  }

  #cursorOf(connection: Connection, rowId: number): DatasetCursor {
    if (this.#cursor?.isOf(connection.database, rowId)) return this.#cursor;
    this.#cursor = new DatasetCursor(connection.database, rowId);
    return this.#cursor;
  }
}

function infoOfDataset(connection: Connection, row: StorageRow): DatasetInfo {
  return { ...infoOf(row), itemCount: connection.records.countOf(row.rowId) };
}
