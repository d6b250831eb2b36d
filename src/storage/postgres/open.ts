import { hostname } from 'node:os';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { LimitExchange } from '../../governor/shared/exchange.ts';
import type { RunProgress, RunStore, WorkerShare } from '../store.ts';
import { Counters } from './counters.ts';
import { PostgresDatabase, type PostgresOptions } from './database.ts';
import { PostgresDatasets } from './datasets.ts';
import { HostTable } from './hosts.ts';
import { PostgresLimits } from './limits.ts';
import { migrate, requireCurrentSchema, SCHEMA_VERSION } from './migrations.ts';
import { PostgresQueue } from './queue.ts';
import { DatasetTable, RecordTable } from './records.ts';
import { RunRegistry } from './run-registry.ts';
import { runTables } from './run-tables.ts';
import { StoreTime } from './time.ts';
import { PostgresValues } from './values.ts';

/**
 * own = nobody else works on the run: leases of workers before are freed at once. join = one worker of any number. read =
 * status and export, at any time; writes nothing.
 */
export type PostgresAccess = 'own' | 'join' | 'read';

export type PostgresRunOptions = PostgresOptions & {
  /** The run's name. */
  name: string;
  /** Default join. */
  access?: PostgresAccess;
  /** How long a unit of work may wait for others to be committed with, ms; default 0. */
  gatherMs?: number;
  /** Goes by this clock; left out = by the database's, which all workers share. */
  clock?: Clock;
};

/** A run on PostgreSQL, as one worker has it open. */
export type PostgresRunStore = RunStore & {
  /** Where its workers share the budgets of servers. */
  readonly limits: LimitExchange;
  /** Says that this worker is alive; a few times a minute. @throws EnvironmentError when another version took over */
  heartbeat(): Promise<void>;
  /** Asks for the lead as one that has just come, and begins a spell of work with it. @returns whether it has the lead */
  begin(): Promise<boolean>;
  /** Asks for the lead of the run, or keeps it. @returns whether this worker has it */
  lead(): Promise<boolean>;
  /** Others may add requests later: a claim that finds nothing then says to look again. */
  expectMore(isExpected: boolean): void;
  /** In one spell of work no more than so many requests are handled by all workers together; null = no limit. */
  handleAtMost(count: number | null): void;
  workerShares(): Promise<WorkerShare[]>;
  progress(): Promise<RunProgress>;
  /** Whether a worker other than this one is at work. */
  hasOtherWorkers(): Promise<boolean>;
};

const NO_WORKER = 0;

/**
 * Opens a run; it is begun when there is none.
 * @returns null when `access` is read and there is no such run
 * @throws EnvironmentError when the server cannot be reached, refuses, or holds another version
 */
export async function openPostgresRun(
  options: PostgresRunOptions & { access: 'read' },
): Promise<PostgresRunStore | null>;
export async function openPostgresRun(
  options: PostgresRunOptions & { access?: 'own' | 'join' },
): Promise<PostgresRunStore>;
export async function openPostgresRun(options: PostgresRunOptions): Promise<PostgresRunStore | null> {
  const database = new PostgresDatabase(options);
  try {
    const store = await openIn(database, options);
    if (store === null) await database.close();
    return store;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function openIn(database: PostgresDatabase, options: PostgresRunOptions): Promise<PostgresRunStore | null> {
  const { access = 'join', name } = options;
  const registry = new RunRegistry(database);
  if (access === 'read') {
    const runId = (await requireCurrentSchema(database)) ? await registry.find(name) : null;
    return runId === null ? null : buildStore(database, { registry, runId, workerId: NO_WORKER, options });
  }
  await migrate(database);
  const runId = await registry.findOrCreate(name);
  const workerId = await registry.addWorker(runId, `${hostname()}:${process.pid}`, SCHEMA_VERSION);
  const store = buildStore(database, { registry, runId, workerId, options });
  if (access === 'own') await store.queue.releaseAll();
  return store;
}

type Facts = { registry: RunRegistry; runId: number; workerId: number; options: PostgresRunOptions };

function buildStore(database: PostgresDatabase, { registry, runId, workerId, options }: Facts): PostgresRunStore {
  const tables = runTables(database.schema, runId);
  const time = new StoreTime(options.ports.clock, options.clock ?? null);
  const hosts = new HostTable(database, tables);
  const datasets = new DatasetTable(database, tables);
  const records = new RecordTable(database, tables, runId);
  const counters = new Counters(database, tables, workerId);
  const parts = { database, tables, hosts, datasets, records, counters, time };
  const { gatherMs = 0, ports } = options;
  const queue = new PostgresQueue({ ...parts, workerId, clock: ports.clock, gatherMs });
  let isOpen = true;
  return {
    queue,
    datasets: new PostgresDatasets({ ...parts, storedRequest: (requestId) => queue.stored(requestId) }),
    values: new PostgresValues(database, tables),
    limits: new PostgresLimits({ database, tables, runId, workerId }),
    heartbeat: () => registry.heartbeat(workerId),
    begin: () => registry.begin(runId, workerId),
    lead: () => registry.lead(runId, workerId),
    expectMore: (isExpected) => queue.expectMore(isExpected),
    handleAtMost: (count) => queue.handleAtMost(count),
    progress: () => counters.progress(),
    workerShares: () => sharesOf(registry, counters, runId),
    hasOtherWorkers: async () => (await registry.workers(runId)).some(({ id, isAlive }) => isAlive && id !== workerId),
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      try {
        if (workerId !== NO_WORKER) await registry.endWorker(runId, workerId);
      } catch (error) {
        options.ports.log.warn(`The other workers were not told that this one ends: ${messageOf(error)}`);
      } finally {
        await database.close();
      }
    },
  };
}

async function sharesOf(registry: RunRegistry, counters: Counters, runId: number): Promise<WorkerShare[]> {
  const shares = new Map((await counters.shares()).map((share) => [share.workerId, share]));
  return (await registry.workers(runId)).flatMap(({ id, title }) => {
    const share = shares.get(id);
    return share === undefined ? [] : [{ id: `${id} ${title}`, requests: share.requests, records: share.records }];
  });
}
