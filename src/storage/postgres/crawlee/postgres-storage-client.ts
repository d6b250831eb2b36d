import { randomUUID } from 'node:crypto';
import type {
  Dataset,
  DatasetCollectionClient,
  DatasetCollectionData,
  Dictionary,
  KeyValueStoreCollectionClient,
  KeyValueStoreInfo,
  PaginatedList,
  RequestQueueCollectionClient,
  RequestQueueInfo,
  RequestQueueOptions,
  SetStatusMessageOptions,
  StorageClient,
} from '@crawlee/types';
import { type Clock, systemClock } from '../../../core/clock.ts';
import { silentLog } from '../../../core/log.ts';
import type { Ports } from '../../../core/ports.ts';
import { systemRandom } from '../../../core/random.ts';
import { StoredDatasetClient } from '../../crawlee/dataset-client.ts';
import { StoredKeyValueStoreClient } from '../../crawlee/key-value-store-client.ts';
import { useOwnExports } from '../../crawlee/own-exports.ts';
import { PostgresDatabase } from '../database.ts';
import { migrate } from '../migrations.ts';
import { datasetInfoOf, PostgresDatasetBackend } from './dataset-backend.ts';
import { PostgresKeyValueBackend } from './key-value-backend.ts';
import { PostgresRequestQueueClient, queueInfoOf } from './request-queue-client.ts';
import { infoOf, PostgresStorages } from './storages.ts';

export type PostgresStorageClientOptions = {
  /** postgres://user:password@host:port/database; `?schema=name` names the schema (default millrace). */
  url: string;
  ports?: Ports;
  /** Locks go by this clock; left out = by the database's, which all processes share. */
  clock?: Clock;
};

/**
 * Crawlee's storages on PostgreSQL, shared by any number of processes:
 * `new Configuration({ storageClient: new PostgresStorageClient({ url }), purgeOnStart: false })`.
 *
 * Call `open` before the first use, and `close` at the end: that frees the locks of this process. Those of one that was
 * killed end by themselves. What others share is never purged on start.
 */
export class PostgresStorageClient implements StorageClient {
  /** Crawlee's load signals look here. */
  readonly stats = { rateLimitErrors: [] as number[] };
  readonly #database: PostgresDatabase;
  readonly #datasets: PostgresStorages;
  readonly #keyValueStores: PostgresStorages;
  readonly #requestQueues: PostgresStorages;
  readonly #lockedBy = randomUUID();

  private constructor(database: PostgresDatabase, clock: Clock | null) {
    this.#database = database;
    this.#datasets = new PostgresStorages(database, 'Dataset', clock);
    this.#keyValueStores = new PostgresStorages(database, 'Key-value store', clock);
    this.#requestQueues = new PostgresStorages(database, 'Request queue', clock);
  }

  /** @throws EnvironmentError when the server cannot be reached, refuses, or holds another version */
  static async open({ url, ports, clock }: PostgresStorageClientOptions): Promise<PostgresStorageClient> {
    const all = ports ?? { clock: systemClock, random: systemRandom, log: silentLog };
    const database = new PostgresDatabase({ url, ports: all });
    try {
      await migrate(database);
      return new PostgresStorageClient(database, clock ?? null);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  dataset<Data extends Dictionary = Dictionary>(id: string): StoredDatasetClient<Data> {
    useOwnExports();
    return new StoredDatasetClient<Data>(id, new PostgresDatasetBackend(id, this.#datasets));
  }

  datasets(): DatasetCollectionClient {
    return {
      list: async () => listed((await this.#datasets.list()).map((one) => datasetInfoOf(one) as Dataset)),
      getOrCreate: async (name) => infoOf(await this.#datasets.getOrCreate(name)) as DatasetCollectionData,
    };
  }

  keyValueStore(id: string): StoredKeyValueStoreClient {
    return new StoredKeyValueStoreClient(id, new PostgresKeyValueBackend(id, this.#keyValueStores));
  }

  keyValueStores(): KeyValueStoreCollectionClient {
    return {
      list: async () => listed((await this.#keyValueStores.list()).map((one) => infoOf(one) as KeyValueStoreInfo)),
      getOrCreate: async (name) => infoOf(await this.#keyValueStores.getOrCreate(name)) as KeyValueStoreInfo,
    };
  }

  /** The options are Apify's: locks here belong to this client, and `close` frees them. */
  requestQueue(id: string, _options?: RequestQueueOptions): PostgresRequestQueueClient {
    return new PostgresRequestQueueClient(id, this.#requestQueues, this.#lockedBy);
  }

  requestQueues(): RequestQueueCollectionClient {
    return {
      list: async () => listed((await this.#requestQueues.list()).map(queueInfoOf)),
      getOrCreate: async (name): Promise<RequestQueueInfo> => queueInfoOf(await this.#requestQueues.getOrCreate(name)),
    };
  }

  async setStatusMessage(_message: string, _options?: SetStatusMessageOptions): Promise<void> {}

  /** Others may be at work with what is there: nothing is emptied. */
  async purge(): Promise<void> {}

  /** Everything is in the database already. */
  async teardown(): Promise<void> {}

  /** Frees this client's locks, each request at its place, and ends its connections. */
  async close(): Promise<void> {
    try {
      await this.#database.rows(
        `UPDATE ${this.#requestQueues.table('request')} SET locked_until = NULL, locked_by = NULL WHERE locked_by = $1`,
        [this.#lockedBy],
      );
    } finally {
      await this.#database.close();
    }
  }
}

function listed<Info>(items: Info[]): PaginatedList<Info> {
  return { total: items.length, count: items.length, offset: 0, limit: items.length, desc: false, items };
}
