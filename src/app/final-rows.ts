import type { Input } from '../config/input-schema.ts';
import type { StoredRow } from '../export/rows.ts';

// As `addFailedRow` writes it: no body, and a failure's code. Skipped URLs say why in words; they are never retried.
const FAILED_ROW = /^\{"url":"(?:[^"\\]|\\.)*","status":(?:\d+|null),"data":null,"error":"[A-Z][A-Z0-9_]*"\}$/;

/** @returns whether a row of the crawl's own dataset stays; undefined when all do */
export function finalRowsOf({ select }: Input): ((row: StoredRow) => boolean) | undefined {
  // Selected records come from answers only: a failed URL leaves none.
  return select === null ? ({ json }) => !isFailedRow(json) : undefined;
}

function isFailedRow(json: string): boolean {
  return json.endsWith('"}') && FAILED_ROW.test(json);
}
