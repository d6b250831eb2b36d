import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemClock } from '../../core/clock.ts';
import { silentLog } from '../../core/log.ts';
import type { Ports } from '../../core/ports.ts';
import { systemRandom } from '../../core/random.ts';
import { InUseError, RunLock } from '../run-lock.ts';
import { Checkpointer } from '../sqlite/checkpointer.ts';
import { type Durability, SqliteDatabase } from '../sqlite/database.ts';
import { migrate } from '../sqlite/migrations.ts';
import { checkText } from './checks.ts';
import { type Connection, createConnection } from './connection.ts';
import { CrawleeStorages } from './crawlee-storages.ts';
import { purgeDefaultStorages } from './purge.ts';

export type SqliteStorageClientOptions = {
  /** Path of the SQLite file that holds all storages; created with its folder when missing. */
  file: string;
  /** normal (default): a power cut may undo the last writes; full: it undoes nothing. */
  durability?: Durability;
  ports?: Ports;
};

type Opened = { connection: Connection; lock: RunLock; checkpointer: Checkpointer };

/**
 * Crawlee's storages in one SQLite file: `new Configuration({ storageClient: new SqliteStorageClient({ file }) })`.
 *
 * The first process to open the file frees the locks that killed processes left behind; others that open it at the same
 * time share it by Crawlee's request locks. Purging on start spares a file that another process uses.
 */
export class SqliteStorageClient extends CrawleeStorages {
  readonly #options: SqliteStorageClientOptions;
  readonly #ports: Ports;
  #opening: Promise<Opened> | null = null;

  constructor(options: SqliteStorageClientOptions) {
    checkText(options.file, 'file');
    super(async () => (await this.#open()).connection);
    this.#options = options;
    this.#ports = options.ports ?? { clock: systemClock, random: systemRandom, log: silentLog };
  }

  /** Empties the default storages, unless another process uses the file. */
  override async purge(): Promise<void> {
    const { connection, lock } = await this.#open();
    const isAlone = await lock.whileAlone(() => purgeDefaultStorages(connection));
    if (!isAlone) this.#ports.log.warn(`${this.#options.file} is in use by another process: nothing was purged`);
  }

  /**
   * Called by Crawlee when a crawler ends. Everything is in the file already; what the log holds is moved into the
   * database, so that the one file is all there is to copy. The client can be used on.
   */
  override async teardown(): Promise<void> {
    if (!this.#opening) return;
    const { connection } = await this.#opening;
    await connection.database.read(() => connection.database.exec('PRAGMA wal_checkpoint(PASSIVE)'));
  }

  /** Closes the file. A later call on a storage opens it again. */
  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = null;
    if (!opening) return;
    const { connection, lock, checkpointer } = await opening;
    await checkpointer.close();
    connection.database.close();
    lock.release();
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#openFile().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async #openFile(): Promise<Opened> {
    const { file } = this.#options;
    await mkdir(dirname(file), { recursive: true });
    const request = { file: `${file}.lock`, title: file, clock: this.#ports.clock };
    try {
      const { lock, value } = await RunLock.own({ ...request, graceMs: 0 }, () => this.#openAlone());
      return { ...value, lock };
    } catch (error) {
      if (!(error instanceof InUseError)) throw error;
    }
    const lock = await RunLock.join(request);
    return { ...(await this.#openDatabase()), lock };
  }

  /** Nobody else is there, so whoever locked requests is gone. */
  async #openAlone(): Promise<Omit<Opened, 'lock'>> {
    const opened = await this.#openDatabase();
    const { database, queueRows } = opened.connection;
    await database.write(() => queueRows.unlockAll());
    return opened;
  }

  async #openDatabase(): Promise<Omit<Opened, 'lock'>> {
    const { file, durability = 'normal' } = this.#options;
    const { clock, log } = this.#ports;
    const database = await SqliteDatabase.open({ file, durability, ports: this.#ports });
    try {
      await migrate(database);
      const checkpointer = new Checkpointer(database, { durability, log });
      return { connection: createConnection(database, clock), checkpointer };
    } catch (error) {
      database.close();
      throw error;
    }
  }
}
