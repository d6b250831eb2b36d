import { ByteChunk } from './byte-chunk.ts';
import { onOneLine } from './json-text.ts';
import { FieldPicker } from './pick-fields.ts';
import type { RowSource } from './rows.ts';

export type JsonOptions = {
  /** Paths of what is kept, in the records' own nesting; null keeps all. */
  fields: readonly string[] | null;
};

/** JSON Lines: one record a line, as it is stored: every digit, null and missing as they came. */
export function jsonLinesChunks(rows: RowSource, options: JsonOptions): AsyncGenerator<Uint8Array> {
  return jsonChunks(rows, options, { before: '', between: '\n', after: '\n', none: '' });
}

/** A JSON array, one record a line. */
export function jsonArrayChunks(rows: RowSource, options: JsonOptions): AsyncGenerator<Uint8Array> {
  return jsonChunks(rows, options, { before: '[\n', between: ',\n', after: '\n]\n', none: '[]\n' });
}

type Frame = { before: string; between: string; after: string; none: string };

async function* jsonChunks(rows: RowSource, { fields }: JsonOptions, frame: Frame): AsyncGenerator<Uint8Array> {
  const chunk = new ByteChunk();
  const picker = fields && new FieldPicker(fields);
  let gap = frame.before;
  for await (const batch of rows()) {
    for (const { json } of batch) {
      chunk.writeText(gap);
      chunk.writeText(onOneLine(picker === null ? json : picker.pick(json)));
      gap = frame.between;
      if (chunk.isFull) yield chunk.take();
    }
  }
  chunk.writeText(gap === frame.before ? frame.none : frame.after);
  yield chunk.written;
}
