import { onOneLine } from './json-text.ts';
import { FieldPicker } from './pick-fields.ts';
import type { RowSource } from './rows.ts';

export type JsonOptions = {
  /** Header names or paths of what is kept, in the records' own nesting; null keeps all. */
  fields: readonly string[] | null;
};

/** JSON Lines: one record a line, as it is stored: every digit, null and missing as they came. */
export async function* jsonLinesChunks(rows: RowSource, { fields }: JsonOptions): AsyncGenerator<string> {
  const line = lineWriter(fields);
  for await (const batch of rows()) {
    if (batch.length > 0) yield `${batch.map((row) => line(row.json)).join('\n')}\n`;
  }
}

/** A JSON array, one record a line. */
export async function* jsonArrayChunks(rows: RowSource, { fields }: JsonOptions): AsyncGenerator<string> {
  const line = lineWriter(fields);
  let before = '[\n';
  for await (const batch of rows()) {
    if (batch.length === 0) continue;
    yield before + batch.map((row) => line(row.json)).join(',\n');
    before = ',\n';
  }
  yield before === '[\n' ? '[]\n' : '\n]\n';
}

function lineWriter(fields: readonly string[] | null): (json: string) => string {
  if (fields === null) return onOneLine;
  const picker = new FieldPicker(fields);
  return (json) => onOneLine(picker.pick(json));
}
