import { EnvironmentError } from '../../core/errors.ts';
import type { SqliteDatabase } from './database.ts';

// "mill" in ASCII: tells our files from other SQLite files.
const APPLICATION_ID = 0x6d696c6c;

/**
 * A request is in `request` for ever, and in exactly one of ready, delayed, leased and done:
 * ready   = can be claimed now, in the order of rank, then age: forefront < 0, ordinary 0
 * delayed = not before due_at
 * leased  = somebody works on it until expires_at
 * done    = handled
 * The rows of a dataset are in a table of its own, named by an id that is never used again.
 * Requests of Crawlee's own queues have their crawlee_id, and are found by it; the run's own are found by unique key,
 * through a hash (key-index.ts). order_no is the rank of a Crawlee request that is ready.
 * Times are epoch ms. Columns left NULL cost a byte: unique_key is NULL where it equals the URL, method where it is GET.
 */
const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE queue (
    id INTEGER PRIMARY KEY, crawlee_id TEXT UNIQUE, name TEXT UNIQUE,
    created_at INTEGER NOT NULL, modified_at INTEGER NOT NULL, accessed_at INTEGER NOT NULL,
    total INTEGER NOT NULL DEFAULT 0, succeeded INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0
  );
  -- The run's own queue; Crawlee's have a crawlee_id.
  INSERT INTO queue (id, created_at, modified_at, accessed_at) VALUES (1, 0, 0, 0);
  CREATE TABLE host (
    id INTEGER PRIMARY KEY, queue_id INTEGER NOT NULL, name TEXT NOT NULL,
    pending INTEGER NOT NULL DEFAULT 0, succeeded INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0, skipped INTEGER NOT NULL DEFAULT 0,
    UNIQUE (queue_id, name)
  );
  CREATE TABLE reason_count (
    queue_id INTEGER NOT NULL, result INTEGER NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL,
    PRIMARY KEY (queue_id, result, reason)
  ) WITHOUT ROWID;
  CREATE TABLE request (
    id INTEGER PRIMARY KEY, queue_id INTEGER NOT NULL, template INTEGER NOT NULL, digits INTEGER NOT NULL,
    host_id INTEGER NOT NULL, added_at INTEGER NOT NULL, url TEXT NOT NULL,
    unique_key TEXT, method TEXT, label TEXT, data TEXT,
    crawlee_id TEXT, order_no INTEGER, patch TEXT, retry_token INTEGER, retry_added INTEGER, retry_records TEXT
  );
  CREATE INDEX request_key ON request (queue_id, template, digits) WHERE crawlee_id IS NULL;
  CREATE UNIQUE INDEX request_crawlee_id ON request (queue_id, crawlee_id) WHERE crawlee_id IS NOT NULL;
  CREATE TABLE ready (
    queue_id INTEGER NOT NULL, host_id INTEGER NOT NULL, rank INTEGER NOT NULL, request_id INTEGER NOT NULL,
    claims INTEGER NOT NULL,
    PRIMARY KEY (queue_id, host_id, rank, request_id)
  ) WITHOUT ROWID;
  CREATE TABLE delayed (
    due_at INTEGER NOT NULL, request_id INTEGER NOT NULL, queue_id INTEGER NOT NULL, host_id INTEGER NOT NULL,
    rank INTEGER NOT NULL, claims INTEGER NOT NULL,
    PRIMARY KEY (due_at, request_id)
  ) WITHOUT ROWID;
  CREATE TABLE leased (
    request_id INTEGER PRIMARY KEY, token INTEGER NOT NULL, worker INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    queue_id INTEGER NOT NULL, host_id INTEGER NOT NULL, rank INTEGER NOT NULL, claims INTEGER NOT NULL
  );
  CREATE TABLE done (
    request_id INTEGER PRIMARY KEY, handled_at INTEGER NOT NULL, result INTEGER NOT NULL, token INTEGER NOT NULL,
    added INTEGER NOT NULL, reason TEXT, patch TEXT, records TEXT
  );
  CREATE TABLE dataset (
    id INTEGER PRIMARY KEY AUTOINCREMENT, crawlee_id TEXT NOT NULL UNIQUE, name TEXT UNIQUE,
    created_at INTEGER NOT NULL, modified_at INTEGER NOT NULL, accessed_at INTEGER NOT NULL,
    count INTEGER NOT NULL DEFAULT 0, next_seq INTEGER NOT NULL DEFAULT 1
  );
  CREATE TABLE dataset_column (
    dataset_id INTEGER NOT NULL, position INTEGER NOT NULL, path TEXT NOT NULL,
    PRIMARY KEY (dataset_id, position), UNIQUE (dataset_id, path)
  ) WITHOUT ROWID;
  CREATE TABLE key_value_store (
    id INTEGER PRIMARY KEY, crawlee_id TEXT NOT NULL UNIQUE, name TEXT UNIQUE,
    created_at INTEGER NOT NULL, modified_at INTEGER NOT NULL, accessed_at INTEGER NOT NULL
  );
  CREATE TABLE key_value_record (
    id INTEGER PRIMARY KEY, store_id INTEGER NOT NULL, key TEXT NOT NULL, content_type TEXT NOT NULL,
    value BLOB NOT NULL, UNIQUE (store_id, key)
  );
  CREATE TABLE run_value (key TEXT PRIMARY KEY, json TEXT NOT NULL);
  `,
];

/** The version this program reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Brings the file to this program's schema, migration by migration, in one transaction.
 * @throws EnvironmentError when a newer program has written it, or it is no file of ours
 */
export async function migrate(database: SqliteDatabase): Promise<void> {
  if ((await database.read(() => checkedVersion(database))) === SCHEMA_VERSION) return;
  await database.write(() => {
    // Read again: two processes may have come at once.
    const version = checkedVersion(database);
    for (const sql of MIGRATIONS.slice(version)) database.exec(sql);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

/** As `migrate`, for a connection that must not write. @throws EnvironmentError when the version is not ours */
export async function requireCurrentSchema(database: SqliteDatabase): Promise<void> {
  const version = await database.read(() => checkedVersion(database));
  if (version < SCHEMA_VERSION)
    throw new EnvironmentError(
      `${database.file} has schema version ${version} and this program needs ${SCHEMA_VERSION}: crawl the run once to bring it up to date.`,
    );
}

function checkedVersion(database: SqliteDatabase): number {
  const version = pragma(database, 'user_version');
  if (version > SCHEMA_VERSION)
    throw new EnvironmentError(
      `${database.file} has schema version ${version}, written by a newer millrace; this one knows up to ${SCHEMA_VERSION}. Use the newer program, or another run name.`,
    );
  const isOurs = pragma(database, 'application_id') === APPLICATION_ID;
  if (!isOurs && (version > 0 || tableCount(database) > 0))
    throw new EnvironmentError(`${database.file} is an SQLite file, but not one of millrace: nothing was changed.`);
  return version;
}

function pragma(database: SqliteDatabase, name: string): number {
  return Number(database.prepareRows(`PRAGMA ${name}`).get()?.[0]);
}

function tableCount(database: SqliteDatabase): number {
  return Number(database.prepareRows('SELECT count(*) FROM sqlite_schema').get()?.[0]);
}
