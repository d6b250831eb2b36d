import type { ColumnPath } from '../../../src/export/column-path.ts';
import { ColumnTracker } from '../../../src/export/flatten.ts';
import type { RowSource } from '../../../src/export/rows.ts';

/** Rows of these JSON texts, in batches of `batchSize`. */
export function rowsOf(jsons: readonly string[], batchSize = 3): RowSource {
  return async function* () {
    for (let at = 0; at < jsons.length; at += batchSize)
      yield jsons.slice(at, at + batchSize).map((json, index) => ({ seq: at + index + 1, json }));
  };
}

/** The columns a crawl would have kept for these. */
export function columnsOfAll(jsons: readonly string[]): readonly ColumnPath[] {
  const tracker = new ColumnTracker();
  for (const json of jsons) tracker.add(json);
  return tracker.columns;
}

/** All of it as one text. */
export async function textOf(chunks: AsyncIterable<string | Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of chunks) text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
  return text;
}
