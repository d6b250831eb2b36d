import type { NewRequest, RowReplacement } from '../store.ts';
import type { RowStatement, SqliteDatabase } from './database.ts';
import { type RecordTables, SpanList } from './records.ts';
import type { ValueTable } from './values.ts';

export type ReplacementParts = {
  records: RecordTables;
  values: ValueTable;
  /** Within a write transaction. @returns how many were new */
  addRequests: (requests: readonly NewRequest[]) => number;
};

/** Rows of a dataset that others take the place of. */
export class Replacements {
  readonly #parts: ReplacementParts;
  readonly #addSpans: RowStatement;

  constructor(database: SqliteDatabase, parts: ReplacementParts) {
    this.#parts = parts;
    this.#addSpans = database.prepareRows(
      `UPDATE done SET records = CASE WHEN records IS NULL THEN ?1 ELSE records || ',' || ?1 END WHERE request_id = ?2`,
    );
  }

  /** Within a write transaction that ends with a flush of the records. */
  replace(datasetId: number, replacements: readonly RowReplacement[], nowMs: number) {
    const { records, values, addRequests } = this.#parts;
    const requests: NewRequest[] = [];
    let replaced = 0;
    for (const replacement of replacements) {
      const taken = records.take(datasetId, replacement.seq, nowMs);
      if (taken === null) continue;
      replaced += 1;
      this.#write(replacement, taken.requestId, nowMs);
      requests.push(...replacement.requests);
      for (const { key, json } of replacement.values) values.put(key, json);
    }
    return { replaced, added: addRequests(requests) };
  }

  /** What is written belongs to the request of the row: it is replaced with it should the request be handled anew. */
  #write(replacement: RowReplacement, requestId: number | null, nowMs: number): void {
    const spans = new SpanList();
    for (const { dataset, json } of replacement.records)
      spans.add(...this.#parts.records.append({ dataset, json, requestId }, nowMs));
    const text = spans.toText();
    if (text !== null && requestId !== null) this.#addSpans.run(text, requestId);
  }
}
