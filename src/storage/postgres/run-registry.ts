import { beginSpell } from './counters.ts';
import type { PostgresDatabase, Transaction } from './database.ts';
import { createRunTables, LOCK_CLASS, requireSameVersion, WORKER_GONE_MS } from './migrations.ts';
import { RUN_TABLES, runTables } from './run-tables.ts';
import { DB_NOW_MS } from './time.ts';

// Kept by a heartbeat every second.
const LEAD_MS = 15_000;
const IS_ALIVE = `ended_at IS NULL AND heartbeat_at > ${DB_NOW_MS} - ${WORKER_GONE_MS}`;
// Whoever ends does not wait for a server that is away.
const END_PATIENCE_MS = 2_000;

/** A worker as it is shown: title is its machine and process. */
export type WorkerRow = { id: number; title: string; isAlive: boolean };

/** The runs of a schema and their workers. */
export class RunRegistry {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** @returns the run's id; null when there is none */
  async find(name: string): Promise<number | null> {
    const [row] = await this.#database.rows<{ id: number }>(`SELECT id FROM ${this.#run} WHERE name = $1`, [name]);
    return row?.id ?? null;
  }

  async list(): Promise<string[]> {
    const rows = await this.#database.rows<{ name: string }>(`SELECT name FROM ${this.#run} ORDER BY name`);
    return rows.map(({ name }) => name);
  }

  /** @returns the run's id, begun when there was none; of several processes one begins it */
  async findOrCreate(name: string): Promise<number> {
    const found = await this.find(name);
    if (found !== null) return found;
    return this.#database.transaction(async (transaction) => {
      await this.#lockNames(transaction);
      const [row] = await transaction.rows<{ id: number }>(`SELECT id FROM ${this.#run} WHERE name = $1`, [name]);
      if (row !== undefined) return row.id;
      const [created] = await transaction.rows<{ id: number }>(
        `INSERT INTO ${this.#run} (name, created_at) VALUES ($1, ${DB_NOW_MS}) RETURNING id`,
        [name],
      );
      createRunTables(transaction, this.#database.schema, created!.id);
      beginSpell(transaction, runTables(this.#database.schema, created!.id));
      return created!.id;
    });
  }

  /** Keeps a run under another name, in place of an older one of that name. */
  async rename(name: string, newName: string): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await this.#lockNames(transaction);
      const [row] = await transaction.rows<{ id: number }>(`SELECT id FROM ${this.#run} WHERE name = $1`, [name]);
      if (row === undefined) return;
      await this.#dropWithin(transaction, newName);
      transaction.run(`UPDATE ${this.#run} SET name = $1 WHERE id = $2`, [newName, row.id]);
    });
  }

  async drop(name: string): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await this.#lockNames(transaction);
      await this.#dropWithin(transaction, name);
    });
  }

  /** @returns the id of a new worker of the run */
  async addWorker(runId: number, title: string, schemaVersion: number): Promise<number> {
    const [row] = await this.#database.rows<{ id: number }>(
      `INSERT INTO ${this.#worker} (run_id, title, schema_version, started_at, heartbeat_at)
       VALUES ($1, $2, $3, ${DB_NOW_MS}, ${DB_NOW_MS}) RETURNING id`,
      [runId, title, schemaVersion],
    );
    return row!.id;
  }

  /** Says that the worker is alive. @throws EnvironmentError when another version has taken over the schema */
  async heartbeat(workerId: number): Promise<void> {
    const [row] = await this.#database.rows<{ version: number }>(
      `UPDATE ${this.#worker} SET heartbeat_at = ${DB_NOW_MS} WHERE id = $1
       RETURNING (SELECT version FROM ${this.#database.schema}.schema_version) AS version`,
      [workerId],
    );
    if (row !== undefined) requireSameVersion(row.version, this.#database);
  }

  /**
   * Asks for the lead of a run as one that has just come. With the lead it begins a spell of work, but where it takes over
   * from a lead that was killed and has left others at work.
   */
  async begin(runId: number, workerId: number): Promise<boolean> {
    return this.#database.transaction(async (transaction) => {
      const [before] = await transaction.rows<{ leadId: number | null; isAlone: boolean }>(
        `SELECT lead_id AS "leadId", NOT EXISTS (
           SELECT FROM ${this.#worker} WHERE run_id = $1 AND id <> $2 AND ${IS_ALIVE}) AS "isAlone"
         FROM ${this.#run} WHERE id = $1 FOR UPDATE`,
        [runId, workerId],
      );
      const taken = await transaction.rows(this.#leadSql(), [runId, workerId]);
      if (taken.length > 0 && (before!.leadId === null || before!.isAlone))
        beginSpell(transaction, runTables(this.#database.schema, runId));
      return taken.length > 0;
    });
  }

  /**
   * Asks for the lead of a run, or keeps it: the lead adds the input and writes the files, and others take over from one
   * that is not heard of.
   */
  async lead(runId: number, workerId: number): Promise<boolean> {
    return (await this.#database.rows(this.#leadSql(), [runId, workerId])).length > 0;
  }

  /** The worker is heard of no more; of one that cannot say so the others learn that by and by. */
  async endWorker(runId: number, workerId: number): Promise<void> {
    await this.#database.rows(
      `WITH ended AS (UPDATE ${this.#worker} SET ended_at = ${DB_NOW_MS} WHERE id = $2)
       UPDATE ${this.#run} SET lead_id = NULL WHERE id = $1 AND lead_id = $2`,
      [runId, workerId],
      END_PATIENCE_MS,
    );
  }

  /** @returns all workers the run has had, in the order they came */
  async workers(runId: number): Promise<WorkerRow[]> {
    return this.#database.rows<WorkerRow>(
      `SELECT id, title, ${IS_ALIVE} AS "isAlive"
       FROM ${this.#worker} WHERE run_id = $1 ORDER BY id`,
      [runId],
    );
  }

  async #dropWithin(transaction: Transaction, name: string): Promise<void> {
    const sql = `DELETE FROM ${this.#run} WHERE name = $1 RETURNING id`;
    for (const { id } of await transaction.rows<{ id: number }>(sql, [name])) {
      transaction.run(`DELETE FROM ${this.#worker} WHERE run_id = $1`, [id]);
      for (const drop of RUN_TABLES.drop(this.#database.schema, id)) transaction.run(drop);
    }
  }

  /** Runs are begun, renamed and dropped by one process at a time. */
  async #lockNames(transaction: Transaction): Promise<void> {
    transaction.run('SELECT pg_advisory_xact_lock($1, 0)', [LOCK_CLASS]);
  }

  #leadSql(): string {
    return `UPDATE ${this.#run} SET lead_id = $2, lead_until = ${DB_NOW_MS} + ${LEAD_MS} WHERE id = $1
      AND (lead_id IS NULL OR lead_id = $2 OR lead_until < ${DB_NOW_MS}) RETURNING id`;
  }

  get #run(): string {
    return `${this.#database.schema}.run`;
  }

  get #worker(): string {
    return `${this.#database.schema}.worker`;
  }
}
