import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { PostgresStorageClient } from '../../src/storage/postgres/crawlee/postgres-storage-client.ts';
import { createTestDatabase, type TestDatabase } from '../storage/postgres/server.ts';
import { describeStorageClient } from './storage-client/index.ts';

let database: TestDatabase;
let schemas = 0;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.end());

describeStorageClient('PostgreSQL', async () => {
  const url = `${database.url}?schema=s${++schemas}`;
  // The suite fakes the calendar of this process: locks go by it, and not by the database's.
  const open = () => PostgresStorageClient.open({ url, clock: systemClock });
  let client = await open();
  return {
    client,
    reopen: async () => {
      await client.close();
      client = await open();
      return client;
    },
    remove: () => client.close(),
  };
});
