import type { Clock } from '../../core/clock.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { RecordTables } from '../sqlite/records.ts';
import { PushedColumns } from './dataset-columns.ts';
import { QueueRows } from './queue-rows.ts';
import { StorageRegistry } from './storage-registry.ts';

/** An open file with all that the clients of Crawlee's storages work with. */
export type Connection = {
  database: SqliteDatabase;
  clock: Clock;
  datasets: StorageRegistry;
  keyValueStores: StorageRegistry;
  requestQueues: StorageRegistry;
  records: RecordTables;
  columns: PushedColumns;
  queueRows: QueueRows;
};

/** Opens on first use, as Crawlee's storages are constructed without waiting. */
export type Connect = () => Promise<Connection>;

export function createConnection(database: SqliteDatabase, clock: Clock): Connection {
  return {
    database,
    clock,
    datasets: new StorageRegistry(database, 'Dataset'),
    keyValueStores: new StorageRegistry(database, 'Key-value store'),
    requestQueues: new StorageRegistry(database, 'Request queue'),
    records: new RecordTables(database),
    columns: new PushedColumns(database),
    queueRows: new QueueRows(database),
  };
}
