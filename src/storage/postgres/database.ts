import pg from 'pg';
import { EnvironmentError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/units.ts';
import { databasePlace } from './database-url.ts';
import { explainPostgresError, failureKind } from './errors.ts';

export type PostgresOptions = {
  /** postgres://user:password@host:port/database; `?schema=name` names the schema of all tables (default millrace) */
  url: string;
  ports: Ports;
  /** How long a server may be away before an operation gives up, ms; default 15 minutes. */
  patienceMs?: number;
  /** Most connections at once; default 4. */
  maxConnections?: number;
};

/** What a parameter may be. */
export type Parameter = string | number | boolean | null | Uint8Array | readonly (string | number | boolean | null)[];

/** A transaction under way. Statements are sent without waiting for one another: their order is kept. */
export type Transaction = {
  rows<Row extends pg.QueryResultRow>(sql: string, parameters?: readonly Parameter[]): Promise<Row[]>;
  /** A statement whose answer nobody needs: if it fails, so does the transaction. */
  run(sql: string, parameters?: readonly Parameter[]): void;
};

const DEFAULT_PATIENCE_MS = 15 * MINUTE_MS;
const DEFAULT_CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;
// A network that is cut says nothing: an answer that takes longer than this is not waited for.
const ANSWER_TIMEOUT_MS = 60 * SECOND_MS;
const LONGEST_RETRY_WAIT_MS = 2 * SECOND_MS;
const FIRST_RETRY_WAIT_MS = 20;
const TELL_AFTER_MS = SECOND_MS;
/**
 * A process that is paused within a transaction must not hold others up for long. Set within each transaction, as
 * poolers hand the session to others after it.
 */
const BEGIN = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'";
const INT8_OID = 20;
// 53 bits hold all we store: ids, epoch ms, counts.
const types = { getTypeParser: (oid: number, format?: 'text' | 'binary') => parserOf(oid, format) };

function parserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  return oid === INT8_OID ? Number : (pg.types.getTypeParser(oid, format as 'text') as (value: string) => unknown);
}

/**
 * A database that may be away for a while: whoever works with it waits, and goes on. It keeps no state in its sessions
 * (no prepared statements, no SET, no NOTIFY), so that poolers may hand them on after each transaction.
 */
export class PostgresDatabase {
  /** The schema, quoted. */
  readonly schema: string;
  /** The address as it may be shown. */
  readonly shown: string;
  readonly #pool: pg.Pool;
  readonly #ports: Ports;
  readonly #patienceMs: number;
  #unreachableSinceMs: number | null = null;
  #hasTold = false;
  #isClosed = false;

  constructor(options: PostgresOptions) {
    const { ports, maxConnections = DEFAULT_CONNECTIONS } = options;
    const { url, schema, shown } = databasePlace(options.url);
    this.schema = pg.escapeIdentifier(schema);
    this.shown = shown;
    this.#ports = ports;
    this.#patienceMs = options.patienceMs ?? DEFAULT_PATIENCE_MS;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: maxConnections,
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      application_name: 'millrace',
      types,
    } as pg.PoolConfig);
    // A connection that is lost while nobody uses it is replaced by the next one that is asked for; while somebody does,
    // the statement under way says so.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => client.on('error', () => {}));
  }

  /**
   * One statement, which may be run again: it reads, or running it twice does no harm.
   * @param patienceMs how long the server may be away; left out = as long as the options say
   */
  async rows<Row extends pg.QueryResultRow>(
    sql: string,
    parameters: readonly Parameter[] = [],
    patienceMs?: number,
  ): Promise<Row[]> {
    return this.#patiently(async () => (await this.#pool.query<Row>(sql, parameters as Parameter[])).rows, patienceMs);
  }

  /**
   * Runs `work` in one transaction: all of it is committed, or none when it throws. It is run again from its start after
   * a deadlock or a lost connection, perhaps after it was committed in fact: it has to find that out by itself.
   * @throws EnvironmentError when the server is away for too long, or refuses
   */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#patiently(async () => {
      const client = await this.#pool.connect();
      try {
        const result = await runTransaction(client, work);
        client.release();
        return result;
      } catch (error) {
        // Whatever state it is in, nobody else gets it.
        client.release(true);
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#pool.end();
  }

  async #patiently<T>(attempt: () => Promise<T>, patienceMs = this.#patienceMs): Promise<T> {
    const { clock } = this.#ports;
    const startedAtMs = clock.nowMs();
    for (let tries = 0; ; tries++) {
      try {
        const result = await attempt();
        this.#reached();
        return result;
      } catch (error) {
        const kind = this.#isClosed ? 'final' : failureKind(error);
        const waitedMs = clock.nowMs() - startedAtMs;
        if (kind === 'final' || waitedMs > patienceMs) throw explainPostgresError(error, this.shown);
        if (kind === 'unreachable') this.#missed(error);
        const longestMs = Math.min(FIRST_RETRY_WAIT_MS * 2 ** tries, LONGEST_RETRY_WAIT_MS);
        await clock.sleep(longestMs * (0.5 + 0.5 * this.#ports.random()));
      }
    }
  }

  #missed(error: unknown): void {
    const nowMs = this.#ports.clock.nowMs();
    this.#unreachableSinceMs ??= nowMs;
    if (this.#hasTold || nowMs - this.#unreachableSinceMs < TELL_AFTER_MS) return;
    this.#hasTold = true;
    const explained = explainPostgresError(error, this.shown);
    const text = explained instanceof EnvironmentError ? explained.message : `PostgreSQL at ${this.shown} is away`;
    this.#ports.log.warn(`${text}. Waiting for it; nothing is lost.`);
  }

  #reached(): void {
    if (this.#unreachableSinceMs === null) return;
    const awayMs = this.#ports.clock.nowMs() - this.#unreachableSinceMs;
    if (this.#hasTold)
      this.#ports.log.info(`PostgreSQL at ${this.shown} is back after ${Math.round(awayMs / SECOND_MS)} s.`);
    this.#unreachableSinceMs = null;
    this.#hasTold = false;
  }
}

async function runTransaction<T>(client: pg.PoolClient, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const pending: Promise<unknown>[] = [];
  const send = <Row extends pg.QueryResultRow>(
    sql: string,
    parameters?: readonly Parameter[],
  ): Promise<pg.QueryResult<Row>> => {
    const sent = client.query<Row>(sql, parameters as Parameter[]);
    // Met below, in the order sent: the first that failed is the reason, those after it only follow from it.
    sent.catch(() => {});
    pending.push(sent);
    return sent;
  };
  void send(BEGIN);
  const result = await work({
    rows: <Row extends pg.QueryResultRow>(sql: string, parameters?: readonly Parameter[]) => {
      const rows = send<Row>(sql, parameters).then((result) => result.rows);
      rows.catch(() => {});
      return rows;
    },
    run: (sql, parameters) => void send(sql, parameters),
  }).catch(async (error: unknown) => {
    throw (await firstFailure(pending)) ?? error;
  });
  void send('COMMIT');
  const failure = await firstFailure(pending);
  if (failure !== null) throw failure;
  return result;
}

async function firstFailure(pending: readonly Promise<unknown>[]): Promise<Error | null> {
  for (const outcome of await Promise.allSettled(pending))
    if (outcome.status === 'rejected') return outcome.reason as Error;
  return null;
}
