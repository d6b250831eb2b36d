import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openPostgresRun } from '../../src/storage/postgres/open.ts';
import { createTestDatabase, type TestDatabase } from '../storage/postgres/server.ts';
import { describeRunStore } from './run-store/index.ts';

let database: TestDatabase;
let runs = 0;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.end());

describeRunStore('PostgreSQL', async () => {
  const name = `run ${++runs}`;
  return {
    // The suite's clock is the run's; waiting for the server goes by the real one.
    open: (ports, access = 'own') =>
      openPostgresRun({ url: database.url, name, access, ports: { ...ports, clock: systemClock }, clock: ports.clock }),
    remove: async () => {},
  };
});
