import type { Connection } from './connection.ts';
import type { StorageRow } from './storage-registry.ts';

const DEFAULT_NAME = 'default';
const TEMPORARY_PREFIX = '__CRAWLEE_TEMPORARY';
// Crawlee's own purge spares the input, which is there before the crawl begins.
const INPUT_KEY = 'INPUT';

/** Empties what Crawlee empties on start: the default storages, but for the input, and temporary ones. */
export function purgeDefaultStorages(connection: Connection): Promise<void> {
  const { database, datasets, keyValueStores, requestQueues, records, queueRows } = connection;
  return database.write(() => {
    for (const row of datasets.list().filter(isPurged)) records.drop(row.rowId);
    for (const row of requestQueues.list().filter(isPurged)) queueRows.removeQueue(row.rowId);
    const empty = database.prepare('DELETE FROM key_value_record WHERE store_id = ? AND key <> ?');
    for (const row of keyValueStores.list().filter(isPurged)) empty.run(row.rowId, INPUT_KEY);
  });
}

function isPurged({ name }: StorageRow): boolean {
  return name === DEFAULT_NAME || (name?.startsWith(TEMPORARY_PREFIX) ?? false);
}
