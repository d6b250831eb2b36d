import { ByteWriter, type ColumnSource, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { type ColumnPath, columnNames } from './column-path.ts';
import { type CellKind, type CellVisitor, type ColumnNode, columnTree, RecordWalker, STRING } from './column-tree.ts';
import { onOneLine, withoutLoneSurrogates } from './json-text.ts';
import { type ParquetType, TypeGuess } from './parquet-types.ts';
import { limitRows, type RowSource } from './rows.ts';

export type ParquetOptions = {
  /** Paths that become columns; null = every key of the records. */
  fields: readonly ColumnPath[] | null;
};

type Column = { name: string; type: ParquetType };

/**
 * The file in pieces, a row group each. Every key of the records is a column; objects and arrays in it are JSON. The
 * rows are read twice: a column's type holds for the whole file, and is known only when all of its values are.
 */
export async function* parquetChunks(rows: RowSource, { fields }: ParquetOptions): AsyncGenerator<Uint8Array> {
  const { columns, tree, rowCount } = await inferColumns(rows, fields);
  const bytes = new DrainedWriter();
  const writer = new ParquetWriter({ writer: bytes, schema: schemaOf(columns, JSON_AS_TEXT), createdBy: 'millrace' });
  const group = new RowGroup(columns, tree);
  // Rows that came in since have not been looked at.
  for await (const batch of limitRows(rows, rowCount)()) {
    for (const row of batch) {
      group.add(row.json);
      if (!group.isFull) continue;
      await writer.write(group.take());
      yield bytes.drain();
    }
  }
  if (group.rowCount > 0) await writer.write(group.take());
  writer.schema = schemaOf(columns, JSON_AS_JSON);
  await writer.finish();
  yield bytes.drain();
}

type Inferred = { columns: Column[]; tree: ColumnNode; rowCount: number };

async function inferColumns(rows: RowSource, fields: readonly ColumnPath[] | null): Promise<Inferred> {
  const inference = new TypeInference(fields);
  let rowCount = 0;
  for await (const batch of rows()) {
    for (const row of batch) inference.add(row.json);
    rowCount += batch.length;
  }
  return { columns: inference.columns(), tree: inference.tree, rowCount };
}

/** Finds the columns and their types. */
class TypeInference implements CellVisitor {
  readonly tree: ColumnNode;
  readonly #isOpen: boolean;
  readonly #paths: ColumnPath[];
  readonly #guesses: TypeGuess[];
  readonly #walker: RecordWalker;

  constructor(fields: readonly ColumnPath[] | null) {
    this.#isOpen = fields === null;
    this.#paths = [...(fields ?? [])];
    this.#guesses = this.#paths.map(() => new TypeGuess());
    this.tree = columnTree(this.#paths);
    markWhole(this.tree);
    this.#walker = new RecordWalker(this.tree, this);
  }

  add(json: string): void {
    this.#walker.source.load(json);
    this.#walker.walk();
  }

  /** No file is without a column: readers refuse it. */
  columns(): Column[] {
    if (this.#paths.length === 0) return [{ name: 'value', type: 'text' }];
    return columnNames(this.#paths).map((name, index) => ({ name, type: this.#guesses[index]?.type ?? 'text' }));
  }

  cell(node: ColumnNode, kind: CellKind, start: number, end: number): void {
    if (node.column < 0) {
      if (!this.#isOpen) return;
      node.column = this.#paths.length;
      this.#paths.push(node.path);
      this.#guesses.push(new TypeGuess());
    }
    this.#guesses[node.column]?.see(kind, kind === STRING ? '' : this.#walker.source.text(start, end));
  }

  unknownKey(parent: ColumnNode, key: string): ColumnNode | null {
    if (!this.#isOpen) return null;
    const child = parent.addChild(key);
    child.isWhole = true;
    return child;
  }
}

function markWhole(node: ColumnNode): void {
  for (const child of node.children) {
    child.isWhole = child.column >= 0;
    markWhole(child);
  }
}

type Value = string | number | bigint | boolean | null;

const MOST_ROWS = 50_000;
const MOST_CELLS = 1_000_000;
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** Collects rows by column until there are enough for a row group. */
class RowGroup implements CellVisitor {
  readonly #columns: readonly Column[];
  readonly #walker: RecordWalker;
  #values: Value[][];
  #characters = 0;
  rowCount = 0;

  constructor(columns: readonly Column[], tree: ColumnNode) {
    this.#columns = columns;
    this.#walker = new RecordWalker(tree, this);
    this.#values = columns.map(() => []);
  }

  get isFull(): boolean {
    return (
      this.rowCount >= MOST_ROWS ||
      this.rowCount * this.#columns.length >= MOST_CELLS ||
      this.#characters >= MOST_CHARACTERS
    );
  }

  add(json: string): void {
    for (const values of this.#values) values.push(null);
    this.#walker.source.load(json);
    this.#walker.walk();
    this.rowCount++;
    this.#characters += json.length;
  }

  take(): { columnData: ColumnSource[]; rowGroupSize: number } {
    const columnData = this.#columns.map(({ name, type }, index) => ({
      name,
      data: this.#values[index] as Value[],
      statistics: type !== 'json',
      // A dictionary would take -0 for 0.
      ...(type === 'double' && { encoding: 'PLAIN' as const }),
    }));
    const rowGroupSize = this.rowCount;
    this.#values = this.#columns.map(() => []);
    this.rowCount = 0;
    this.#characters = 0;
    return { columnData, rowGroupSize };
  }

  cell(node: ColumnNode, kind: CellKind, start: number, end: number): void {
    const column = this.#columns[node.column];
    const values = this.#values[node.column];
    if (column !== undefined && values !== undefined)
      values[this.rowCount] = this.#value(column.type, kind, start, end);
  }

  unknownKey(): null {
    return null;
  }

  #value(type: ParquetType, kind: CellKind, start: number, end: number): Value {
    const { source } = this.#walker;
    if (type === 'json') return withoutLoneSurrogates(onOneLine(source.text(start, kind === STRING ? end + 1 : end)));
    if (kind === STRING) return source.string(start, end);
    const raw = source.text(start, end);
    if (raw === 'null') return null;
    if (type === 'boolean') return raw === 'true';
    if (type === 'int64') return BigInt(raw);
    return type === 'double' ? Number(raw) : raw;
  }
}

type Element = Omit<SchemaElement, 'name'>;
const TEXT: Element = { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
// The writer would parse and print a JSON column's values once more, and lose digits: it is told they are text, and only
// the schema at the file's end says what they are.
const JSON_AS_TEXT: Element = TEXT;
const JSON_AS_JSON: Element = { type: 'BYTE_ARRAY', converted_type: 'JSON', logical_type: { type: 'JSON' } };

function schemaOf(columns: readonly Column[], json: Element): SchemaElement[] {
  const elements: Record<ParquetType, Element> = {
    boolean: { type: 'BOOLEAN' },
    int64: { type: 'INT64' },
    double: { type: 'DOUBLE' },
    text: TEXT,
    json,
  };
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...elements[type] })),
  ];
}

/** A writer whose bytes are taken away as they come. */
class DrainedWriter extends ByteWriter {
  drain(): Uint8Array {
    // Its buffer is used again.
    const bytes = this.getBytes().slice();
    this.index = 0;
    return bytes;
  }
}
