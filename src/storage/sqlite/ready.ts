import type { RowStatement, SqliteDatabase } from './database.ts';

export type ReadyRow = { requestId: number; hostId: number; rank: number; claims: number };

/** Makes requests of one queue ready one by one; Additions does it for many at once. */
export class ReadyRows {
  readonly #queueId: number;
  readonly #insert: RowStatement;

  constructor(database: SqliteDatabase, queueId: number) {
    this.#queueId = queueId;
    this.#insert = database.prepareRows(
      'INSERT INTO ready (queue_id, host_id, rank, request_id, claims) VALUES (?, ?, ?, ?, ?)',
    );
  }

  put({ requestId, hostId, rank, claims }: ReadyRow): void {
    this.#insert.run(this.#queueId, hostId, rank, requestId, claims);
  }
}
