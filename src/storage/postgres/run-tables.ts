/** The tables of one run, quoted and with their schema. */
export type RunTables = Readonly<Record<TableName, string>>;

const NAMES = [
  'host',
  'request',
  'request_id',
  'ready',
  'delayed',
  'leased',
  'done',
  'retried',
  'dataset',
  'dataset_row',
  'dataset_row_seq',
  'dataset_column',
  'dataset_column_position',
  'value',
  'counter',
  'limit_park',
  'limit_share',
] as const;

type TableName = (typeof NAMES)[number];

// A queue's tables turn over all the time: vacuumed by count, not by share, and never shortened, which would lock them.
const HOT = (threshold: number): string =>
  `autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = ${threshold}, autovacuum_vacuum_cost_delay = 0,
   vacuum_truncate = false`;

/** @returns the names of a run's tables */
export function runTables(schema: string, runId: number): RunTables {
  return Object.fromEntries(NAMES.map((name) => [name, `${schema}.run_${runId}_${name}`])) as RunTables;
}

/**
 * Each run has tables of its own: a finished one is dropped at once, and leaves no holes behind.
 *
 * A request is in `request` for ever, and in exactly one of ready, delayed, leased and done:
 * ready   = can be claimed now, in the order of rank, then age: forefront < 0, ordinary 0
 * delayed = not before due_at
 * leased  = a worker has it until expires_at
 * done    = handled; result 0 = put back, its records are replaced when it is handled anew (redo says so elsewhere)
 * Rows of datasets that one request left are found by `spans`: pairs of first and last seq, with others' between them.
 * Counters have a row for each worker, so that no two workers wait for one another; they are summed when read.
 * Times are epoch ms of the database. unique_key is NULL where it equals the URL, method where it is GET.
 */
function create(schema: string, runId: number): string[] {
  const t = runTables(schema, runId);
  return [
    `CREATE TABLE ${t.host} (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE)`,
    `CREATE SEQUENCE ${t.request_id}`,
    `CREATE TABLE ${t.request} (
       id bigint PRIMARY KEY, key uuid NOT NULL UNIQUE, host_id integer NOT NULL, added_at bigint NOT NULL,
       url text NOT NULL, unique_key text, method text, label text, data text)`,
    `CREATE TABLE ${t.ready} (
       host_id integer NOT NULL, rank bigint NOT NULL, request_id bigint NOT NULL, claims integer NOT NULL,
       redo boolean NOT NULL, PRIMARY KEY (host_id, rank, request_id)) WITH (${HOT(5_000)})`,
    `CREATE TABLE ${t.delayed} (
       due_at bigint NOT NULL, request_id bigint NOT NULL, host_id integer NOT NULL, rank bigint NOT NULL,
       claims integer NOT NULL, redo boolean NOT NULL, PRIMARY KEY (due_at, request_id)) WITH (${HOT(1_000)})`,
    `CREATE TABLE ${t.leased} (
       request_id bigint PRIMARY KEY, token bigint NOT NULL, worker_id integer NOT NULL, expires_at bigint NOT NULL,
       host_id integer NOT NULL, rank bigint NOT NULL, claims integer NOT NULL, redo boolean NOT NULL)
       WITH (fillfactor = 50, ${HOT(1_000)})`,
    indexLeases(schema, runId),
    `CREATE TABLE ${t.done} (
       request_id bigint PRIMARY KEY, handled_at bigint NOT NULL, result smallint NOT NULL, token bigint NOT NULL,
       added integer NOT NULL, reason text, patch text, spans bigint[])`,
    `CREATE TABLE ${t.retried} (
       request_id bigint PRIMARY KEY, token bigint NOT NULL, added integer NOT NULL, patch text, spans bigint[])
       WITH (${HOT(5_000)})`,
    `CREATE TABLE ${t.dataset} (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE)`,
    `CREATE SEQUENCE ${t.dataset_row_seq}`,
    `CREATE TABLE ${t.dataset_row} (
       dataset_id integer NOT NULL, seq bigint NOT NULL, request_id bigint, json text NOT NULL,
       PRIMARY KEY (dataset_id, seq))`,
    `CREATE SEQUENCE ${t.dataset_column_position}`,
    `CREATE TABLE ${t.dataset_column} (
       dataset_id integer NOT NULL, path text COLLATE "C" NOT NULL, position bigint NOT NULL,
       PRIMARY KEY (dataset_id, path))`,
    `CREATE TABLE ${t.value} (key text COLLATE "C" PRIMARY KEY, json text NOT NULL) WITH (${HOT(500)})`,
    `CREATE TABLE ${t.counter} (
       worker_id integer NOT NULL, kind smallint NOT NULL, key text COLLATE "C" NOT NULL, value bigint NOT NULL,
       PRIMARY KEY (worker_id, kind, key)) WITH (fillfactor = 50, ${HOT(1_000)})`,
    `CREATE TABLE ${t.limit_park} (key text COLLATE "C" PRIMARY KEY, parked_until bigint NOT NULL)
       WITH (fillfactor = 50, ${HOT(500)})`,
    `CREATE TABLE ${t.limit_share} (
       key text COLLATE "C" NOT NULL, worker_id integer NOT NULL, until bigint NOT NULL,
       wanted_rps double precision NOT NULL, granted_rps double precision NOT NULL, sent_rps double precision NOT NULL,
       paced_rps double precision, found_rps double precision, ceiling_rps double precision,
       PRIMARY KEY (key, worker_id)) WITH (fillfactor = 50, ${HOT(500)})`,
  ];
}

/** Which leases have ended is asked for all the time, and most rows of their table are of leases that are no more. */
export function indexLeases(schema: string, runId: number): string {
  return `CREATE INDEX ON ${runTables(schema, runId).leased} (expires_at)`;
}

function drop(schema: string, runId: number): string[] {
  const tables = runTables(schema, runId);
  return NAMES.map((name) => {
    const kind =
      name === 'request_id' || name === 'dataset_row_seq' || name === 'dataset_column_position' ? 'SEQUENCE' : 'TABLE';
    return `DROP ${kind} IF EXISTS ${tables[name]}`;
  });
}

export const RUN_TABLES = { create, drop };
