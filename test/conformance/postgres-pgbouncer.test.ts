import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { openPostgresRun } from '../../src/storage/postgres/open.ts';
import { startPgbouncer } from '../storage/postgres/pgbouncer.ts';
import { startPostgres, type TestDatabase, type TestServer } from '../storage/postgres/server.ts';
import { describeRunStore } from './run-store/index.ts';

let server: TestServer;
let pooler: TestDatabase;
let runs = 0;

beforeAll(async () => {
  server = await startPostgres();
  pooler = await startPgbouncer(server);
});
afterAll(async () => {
  await pooler.end();
  await server.end();
});

// Sessions pass to others after every transaction: whatever was kept in one would show here.
describeRunStore('PostgreSQL behind pgbouncer in transaction mode', async () => {
  const name = `run ${++runs}`;
  return {
    open: (ports, access = 'own') =>
      openPostgresRun({ url: pooler.url, name, access, ports: { ...ports, clock: systemClock }, clock: ports.clock }),
    remove: async () => {},
  };
});
