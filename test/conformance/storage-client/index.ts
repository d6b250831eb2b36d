import { describe } from 'vitest';
import { describeDatasetClient } from './datasets.ts';
import { APIFY_LIKE, type CreateStorages, type Quirks } from './harness.ts';
import { describeKeyValueStoreClient } from './key-value-stores.ts';
import { describeRequestQueueClient } from './request-queues.ts';

export type { CreateStorages, Quirks, TestStorages } from './harness.ts';

/**
 * What a StorageClient of Crawlee 3.18 must do. A backend calls it with a function that makes empty storages; `quirks`
 * leave out what Crawlee's own MemoryStorage does otherwise.
 */
export function describeStorageClient(name: string, create: CreateStorages, quirks: Quirks = APIFY_LIKE): void {
  describe(`${name} as a storage client`, () => {
    describeDatasetClient(create, quirks);
    describeKeyValueStoreClient(create, quirks);
    describeRequestQueueClient(create, quirks);
  });
}
