import type { RowStatement, SqliteDatabase } from './database.ts';

const BEFORE_ALL_HOSTS = 0;

/**
 * The hosts of a queue that have ready requests, as a ring. It is the index of `ready` itself: it costs nothing to keep,
 * and one seek a host to read (1 us), however many requests there are.
 */
export class HostRing {
  readonly #queueId: number;
  readonly #next: RowStatement;

  constructor(database: SqliteDatabase, queueId: number) {
    this.#queueId = queueId;
    this.#next = database.prepareRows(
      'SELECT host_id FROM ready WHERE queue_id = ?+0 AND host_id > ? ORDER BY host_id LIMIT 1',
    );
  }

  /** Each host once, beginning after `start`. */
  *from(start: number): Generator<number> {
    for (let id = this.#after(start); id !== null; id = this.#after(id)) yield id;
    for (let id = this.#after(BEFORE_ALL_HOSTS); id !== null && id <= start; id = this.#after(id)) yield id;
  }

  #after(hostId: number): number | null {
    return (this.#next.get(this.#queueId, hostId)?.[0] as number | undefined) ?? null;
  }
}
