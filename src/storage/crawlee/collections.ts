import type {
  Dataset,
  DatasetCollectionClient,
  DatasetCollectionData,
  KeyValueStoreCollectionClient,
  KeyValueStoreInfo,
  PaginatedList,
  RequestQueueCollectionClient,
  RequestQueueInfo,
} from '@crawlee/types';
import type { Connect, Connection } from './connection.ts';
import { infoOfQueue } from './request-queue-client.ts';
import { infoOf, type StorageRegistry, type StorageRow } from './storage-registry.ts';

/** All datasets. */
export class SqliteDatasetCollection implements DatasetCollectionClient {
  readonly #connect: Connect;

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  async list(): Promise<PaginatedList<Dataset>> {
    const connection = await this.#connect();
    const infoOfDataset = (row: StorageRow): Dataset =>
      ({
        ...infoOf(row),
        itemCount: connection.records.countOf(row.rowId),
      }) as Dataset;
    return listed(await connection.database.read(() => connection.datasets.list().map(infoOfDataset)));
  }

  async getOrCreate(name?: string): Promise<DatasetCollectionData> {
    const connection = await this.#connect();
    const row = await getOrCreate(connection, connection.datasets, name, (created) =>
      connection.records.createTable(created.rowId),
    );
    return infoOf(row) as DatasetCollectionData;
  }
}

/** All key-value stores. */
export class SqliteKeyValueStoreCollection implements KeyValueStoreCollectionClient {
  readonly #connect: Connect;

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  async list(): Promise<PaginatedList<KeyValueStoreInfo>> {
    const { database, keyValueStores } = await this.#connect();
    return listed(await database.read(() => keyValueStores.list().map((row) => infoOf(row) as KeyValueStoreInfo)));
  }

  async getOrCreate(name?: string): Promise<KeyValueStoreInfo> {
    const connection = await this.#connect();
    return infoOf(await getOrCreate(connection, connection.keyValueStores, name)) as KeyValueStoreInfo;
  }
}

/** All request queues. */
export class SqliteRequestQueueCollection implements RequestQueueCollectionClient {
  readonly #connect: Connect;

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  async list(): Promise<PaginatedList<RequestQueueInfo>> {
    const connection = await this.#connect();
    const { database, requestQueues } = connection;
    return listed(await database.read(() => requestQueues.list().map((row) => infoOfQueue(connection, row))));
  }

  async getOrCreate(name?: string): Promise<RequestQueueInfo> {
    const connection = await this.#connect();
    return infoOfQueue(connection, await getOrCreate(connection, connection.requestQueues, name));
  }
}

async function getOrCreate(
  { database, clock }: Connection,
  registry: StorageRegistry,
  name: string | undefined,
  whenCreated?: (row: StorageRow) => void,
): Promise<StorageRow> {
  return database.write(() => {
    const found = name ? registry.find(name) : undefined;
    if (found) return found;
    const created = registry.create(name || undefined, clock.wallMs());
    whenCreated?.(created);
    return created;
  });
}

function listed<Info>(items: Info[]): PaginatedList<Info> {
  return { total: items.length, count: items.length, offset: 0, limit: items.length, desc: false, items };
}
