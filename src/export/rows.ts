/** One row on its way out: `seq` grows within a dataset, `json` is the record's JSON text. */
export type StoredRow = { readonly seq: number; readonly json: string };

/**
 * A dataset's rows in order, in batches (a promise for each row would cost more than writing it). Called again for a
 * second pass: Parquet has to know its types first.
 */
export type RowSource = () => AsyncIterable<readonly StoredRow[]>;

/** Reads rows with seq > afterSeq, in order. */
export type PageReader = (options: { afterSeq: number; limit: number }) => Promise<readonly StoredRow[]>;

const ROWS_PER_PAGE = 500;

/** @returns rows by keyset paging: page n + 1 begins where page n ended, so that the last costs what the first does */
export function rowsByPage(page: PageReader, { rowsPerPage = ROWS_PER_PAGE, afterSeq = 0 } = {}): RowSource {
  return async function* () {
    let lastSeq = afterSeq;
    for (;;) {
      const rows = await page({ afterSeq: lastSeq, limit: rowsPerPage });
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows;
      lastSeq = last.seq;
    }
  };
}

/** @returns at most `limit` rows; all when it is null */
export function limitRows(rows: RowSource, limit: number | null): RowSource {
  if (limit === null) return rows;
  return async function* () {
    let left = limit;
    if (left <= 0) return;
    for await (const batch of rows()) {
      yield batch.length > left ? batch.slice(0, left) : batch;
      left -= batch.length;
      if (left <= 0) return;
    }
  };
}

/** A stored record that is no JSON: the store is damaged, and nothing is written rather than something wrong. */
export class DamagedRecordError extends Error {
  override readonly name = 'DamagedRecordError';
  constructor(at: number, options?: ErrorOptions) {
    super(`Not valid JSON at character ${at}`, options);
  }
}
