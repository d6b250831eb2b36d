import { EnvironmentError } from '../../core/errors.ts';
import { crawleeTables } from './crawlee/tables.ts';
import type { PostgresDatabase, Transaction } from './database.ts';
import { indexLeases, RUN_TABLES } from './run-tables.ts';
import { DB_NOW_MS } from './time.ts';

/** "mill" and "race" in ASCII: the advisory locks of ours are told from others by the first half. */
export const LOCK_CLASS = 0x6d696c6c;
const MIGRATION_LOCK = 0x72616365;
/** A worker that has not been heard of for so long is gone, ms. */
export const WORKER_GONE_MS = 60_000;

/** What one migration does to the schema; those that change tables of runs do it for each run there is. */
export type Migration = (schema: string, runIds: readonly number[]) => string[];

export const MIGRATIONS: readonly Migration[] = [
  (schema) => [
    `CREATE TABLE ${schema}.run (
       id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
       created_at bigint NOT NULL, lead_id integer, lead_until bigint
     )`,
    `CREATE TABLE ${schema}.worker (
       id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run_id integer NOT NULL, title text NOT NULL,
       schema_version integer NOT NULL, started_at bigint NOT NULL, heartbeat_at bigint NOT NULL, ended_at bigint
     ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500)`,
    `CREATE INDEX worker_run ON ${schema}.worker (run_id)`,
    ...crawleeTables(schema),
  ],
  (schema, runIds) => runIds.map((runId) => indexLeases(schema, runId)),
];

/** The version this program reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Brings the schema to this program's version, in one transaction that one process at a time runs.
 * @param migrations all there are; those of this program when left out
 * @throws EnvironmentError when a newer program has written it, or workers of an older one are at work
 */
export async function migrate(database: PostgresDatabase, migrations = MIGRATIONS): Promise<void> {
  const target = migrations.length;
  if ((await storedVersion(database, target)) === target) return;
  await database.transaction(async (transaction) => {
    transaction.run('SELECT pg_advisory_xact_lock($1, $2)', [LOCK_CLASS, MIGRATION_LOCK]);
    transaction.run(`CREATE SCHEMA IF NOT EXISTS ${database.schema}`);
    transaction.run(`CREATE TABLE IF NOT EXISTS ${database.schema}.schema_version (version integer NOT NULL)`);
    // Read again: others may have come at the same time.
    const [row] = await transaction.rows<{ version: number }>(`SELECT version FROM ${database.schema}.schema_version`);
    const version = checked(row?.version ?? 0, { database, target });
    if (version === target) return;
    if (version > 0) await requireNoWorkers(transaction, database, version);
    const runs = version > 0 ? await transaction.rows<{ id: number }>(`SELECT id FROM ${database.schema}.run`) : [];
    const runIds = runs.map(({ id }) => id);
    for (const migration of migrations.slice(version))
      for (const sql of migration(database.schema, runIds)) transaction.run(sql);
    transaction.run(`DELETE FROM ${database.schema}.schema_version`);
    transaction.run(`INSERT INTO ${database.schema}.schema_version VALUES ($1)`, [target]);
  });
}

/**
 * As `migrate`, for who only looks.
 * @returns whether there is anything to look at
 * @throws EnvironmentError when the version is not ours
 */
export async function requireCurrentSchema(database: PostgresDatabase): Promise<boolean> {
  const version = await storedVersion(database, SCHEMA_VERSION);
  if (version === SCHEMA_VERSION) return true;
  if (version === 0) return false;
  throw new EnvironmentError(
    `Schema ${database.schema} at ${database.shown} has version ${version} and this program needs ${SCHEMA_VERSION}: crawl with it once to bring it up to date.`,
  );
}

/** @throws EnvironmentError when another version has taken over since it was opened */
export function requireSameVersion(version: number, database: PostgresDatabase): void {
  if (version !== SCHEMA_VERSION) throw otherVersion(version, database);
}

async function storedVersion(database: PostgresDatabase, target: number): Promise<number> {
  const table = `${database.schema}.schema_version`;
  const [found] = await database.rows<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [table]);
  if (found?.name === null) return 0;
  const [row] = await database.rows<{ version: number }>(`SELECT version FROM ${table}`);
  return checked(row?.version ?? 0, { database, target });
}

function checked(version: number, { database, target }: { database: PostgresDatabase; target: number }): number {
  if (version > target) throw otherVersion(version, database);
  return version;
}

function otherVersion(version: number, database: PostgresDatabase): EnvironmentError {
  return new EnvironmentError(
    `Schema ${database.schema} at ${database.shown} has version ${version}, written by another millrace; this one knows up to ${SCHEMA_VERSION}. Use that program for all workers, or another schema.`,
  );
}

async function requireNoWorkers(transaction: Transaction, database: PostgresDatabase, version: number): Promise<void> {
  const [row] = await transaction.rows<{ count: number }>(
    `SELECT count(*) AS count FROM ${database.schema}.worker
     WHERE ended_at IS NULL AND heartbeat_at > ${DB_NOW_MS} - ${WORKER_GONE_MS}`,
  );
  if (row !== undefined && row.count > 0)
    throw new EnvironmentError(
      `Schema ${database.schema} at ${database.shown} has version ${version}, and ${row.count} workers of that version are at work: let them end before this version changes it.`,
    );
}

/** Within a transaction: the tables of a new run. */
export function createRunTables(transaction: Transaction, schema: string, runId: number): void {
  for (const sql of RUN_TABLES.create(schema, runId)) transaction.run(sql);
}
