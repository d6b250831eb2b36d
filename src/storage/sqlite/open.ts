import type { StorageClient } from '@crawlee/types';
import type { Ports } from '../../core/ports.ts';
import { type Connect, type Connection, createConnection } from '../crawlee/connection.ts';
import { CrawleeStorages } from '../crawlee/crawlee-storages.ts';
import type { NewRequest, RunStore } from '../store.ts';
import { Checkpointer } from './checkpointer.ts';
import { ColumnTable } from './columns.ts';
import { type Durability, SqliteDatabase } from './database.ts';
import { SqliteDatasets } from './datasets.ts';
import { migrate, requireCurrentSchema } from './migrations.ts';
import { SqliteQueue } from './queue.ts';
import { RecordTables } from './records.ts';
import { SqliteValues, ValueTable } from './values.ts';

/**
 * own = the only worker: leases of workers before it are freed. join = beside others, safe by leases. read = status and
 * export, at any time, writes nothing.
 */
export type Access = 'own' | 'join' | 'read';

export type SqliteRunOptions = {
  /** Path of the file; created unless `access` is read. */
  file: string;
  durability: Durability;
  ports: Ports;
  /** Default own. */
  access?: Access;
  /** How long another process may hold the write lock before an operation gives up, ms; default 60,000. */
  busyTimeoutMs?: number;
};

/**
 * A run's store, with Crawlee's storages in the same file: what `Dataset.open` pushes is exported with the run.
 * `connect` is what further storages of Crawlee in the file are built on.
 */
export type SqliteRunStore = RunStore & { readonly storageClient: StorageClient; readonly connect: Connect };

/** The row of `queue` that is the run's own; the first migration puts it there. */
const RUN_QUEUE_ID = 1;

/**
 * Opens the storage of one run: one SQLite file. Whoever opens it with `own` must hold the run's lock.
 * @throws EnvironmentError when it cannot be opened, is damaged, or was written by a newer program
 */
export async function openSqliteRun(options: SqliteRunOptions): Promise<SqliteRunStore> {
  const { access = 'own', ports } = options;
  const database = await SqliteDatabase.open({ ...options, readOnly: access === 'read' });
  try {
    await (access === 'read' ? requireCurrentSchema(database) : migrate(database));
    const { store, queue } = buildStore(database, { ports, isOwner: access === 'own' });
    if (access === 'own') await queue.takeOver();
    if (access === 'read') return store;
    return withCheckpoints(store, new Checkpointer(database, { durability: options.durability, log: ports.log }));
  } catch (error) {
    database.close();
    throw error;
  }
}

function buildStore(
  database: SqliteDatabase,
  { ports, isOwner }: { ports: Ports; isOwner: boolean },
): { store: SqliteRunStore; queue: SqliteQueue } {
  const records = new RecordTables(database);
  const columns = new ColumnTable(database, records);
  const values = new ValueTable(database);
  const queue = new SqliteQueue(database, { ports, queueId: RUN_QUEUE_ID, records, columns, values, isOwner });
  const addRequests = (requests: readonly NewRequest[]): number => queue.addWithin(requests);
  const connect = connectOnce(database, ports);
  const store = {
    queue,
    datasets: new SqliteDatasets(database, {
      clock: ports.clock,
      records,
      columns,
      values,
      addRequests,
      storedRequest: (rowId) => queue.stored(rowId),
    }),
    values: new SqliteValues(database, values),
    connect,
    storageClient: new CrawleeStorages(connect),
    close: async () => database.close(),
  };
  return { store, queue };
}

function connectOnce(database: SqliteDatabase, ports: Ports): Connect {
  let connection: Connection | null = null;
  return async () => {
    connection ??= createConnection(database, ports.clock);
    return connection;
  };
}

function withCheckpoints(store: SqliteRunStore, checkpointer: Checkpointer): SqliteRunStore {
  return {
    ...store,
    close: async () => {
      await checkpointer.close();
      await store.close();
    },
  };
}
