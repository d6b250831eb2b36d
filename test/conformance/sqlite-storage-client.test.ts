import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteStorageClient } from '../../src/storage/crawlee/sqlite-storage-client.ts';
import { describeStorageClient } from './storage-client/index.ts';

describeStorageClient('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-crawlee-'));
  const open = () => new SqliteStorageClient({ file: join(folder, 'storages.sqlite') });
  let client = open();
  return {
    client,
    reopen: async () => {
      await client.close();
      client = open();
      return client;
    },
    remove: async () => {
      await client.close();
      await rm(folder, { recursive: true });
    },
  };
});
