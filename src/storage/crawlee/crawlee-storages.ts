import type { Dictionary, RequestQueueOptions, SetStatusMessageOptions, StorageClient } from '@crawlee/types';
import { SqliteDatasetCollection, SqliteKeyValueStoreCollection, SqliteRequestQueueCollection } from './collections.ts';
import type { Connect } from './connection.ts';
import { useOwnExports } from './own-exports.ts';
import { SqliteRequestQueueClient } from './request-queue-client.ts';
import { SqliteDatasetClient } from './sqlite-dataset.ts';
import { SqliteKeyValueStoreClient } from './sqlite-key-value-store.ts';

/** Crawlee's storages in an SQLite file that somebody else opens and closes, such as a run's. */
export class CrawleeStorages implements StorageClient {
  /** Crawlee's load signals look here; a local file limits nobody. */
  readonly stats = { rateLimitErrors: [] as number[] };
  readonly #connect: Connect;

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  dataset<Data extends Dictionary = Dictionary>(id: string): SqliteDatasetClient<Data> {
    useOwnExports();
    return new SqliteDatasetClient<Data>(id, this.#connect);
  }

  datasets(): SqliteDatasetCollection {
    return new SqliteDatasetCollection(this.#connect);
  }

  keyValueStore(id: string): SqliteKeyValueStoreClient {
    return new SqliteKeyValueStoreClient(id, this.#connect);
  }

  keyValueStores(): SqliteKeyValueStoreCollection {
    return new SqliteKeyValueStoreCollection(this.#connect);
  }

  /** The options are Apify's: locks here belong to the file, whoever asks. */
  requestQueue(id: string, _options?: RequestQueueOptions): SqliteRequestQueueClient {
    return new SqliteRequestQueueClient(id, this.#connect);
  }

  requestQueues(): SqliteRequestQueueCollection {
    return new SqliteRequestQueueCollection(this.#connect);
  }

  async setStatusMessage(_message: string, _options?: SetStatusMessageOptions): Promise<void> {}

  /** Whoever owns the file decides when it begins anew. */
  async purge(): Promise<void> {}

  /** Everything is in the file already. */
  async teardown(): Promise<void> {}
}
