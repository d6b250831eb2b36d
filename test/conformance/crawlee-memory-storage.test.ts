import { MemoryStorage } from '@crawlee/memory-storage';
import { describeStorageClient } from './storage-client/index.ts';

// Proves the suite: where semantics are meant to be the same, Crawlee's own storage must pass it too.
describeStorageClient(
  "Crawlee's MemoryStorage",
  async () => ({
    client: new MemoryStorage({ persistStorage: false }),
    reopen: null,
    remove: async () => {},
  }),
  {
    tellsLocked: false,
    locksInOrder: false,
    countsUnhandled: false,
    startsAfterMissingKey: false,
    renames: false,
    downloads: false,
  },
);
