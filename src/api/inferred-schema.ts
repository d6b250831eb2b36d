import { isJsonObject } from './json-value.ts';

export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array';

/** A field as the records have it. Paths: `a.b` in objects, `a[]` for the items of a list. */
export type InferredField = {
  /** In order of how often they come. */
  types: FieldType[];
  /** Share of the places it could stand in that have null, or no such key: 0 to 1. */
  nullShare: number;
};

/** What the records of a dataset look like. */
export type InferredSchema = {
  records: number;
  fields: Record<string, InferredField>;
  /** Further fields that were not looked at: keys that are data (ids, dates) would make one each. */
  otherFields: number;
};

// A table of more columns is none to read.
const MOST_FIELDS = 1_000;
// Deeper down it is documents within documents.
const DEEPEST = 8;

type FieldCounts = { parents: () => number; present: number; types: Map<FieldType, number> };

/** Learns the schema of a dataset record by record, in memory bounded by the number of fields. */
export class SchemaInference {
  readonly #fields = new Map<string, FieldCounts>();
  readonly #others = new Set<string>();
  #records = 0;

  add(record: unknown): void {
    this.#records++;
    if (isJsonObject(record)) this.#addObject(record, '', { depth: 0, parents: () => this.#records });
  }

  result(): InferredSchema {
    const fields = [...this.#fields].map(([path, counts]) => [path, fieldOf(counts)]);
    return { records: this.#records, fields: Object.fromEntries(fields), otherFields: this.#others.size };
  }

  #addObject(object: Record<string, unknown>, prefix: string, at: { depth: number; parents: () => number }): void {
    for (const [key, value] of Object.entries(object)) this.#addField(`${prefix}${key}`, value, at);
  }

  #addField(path: string, value: unknown, { depth, parents }: { depth: number; parents: () => number }): void {
    const field = this.#fieldAt(path, parents);
    if (field === null || value === null || value === undefined) return;
    field.present++;
    const type = typeOf(value);
    field.types.set(type, (field.types.get(type) ?? 0) + 1);
    if (depth >= DEEPEST) return;
    const below = { depth: depth + 1, parents: () => field.types.get(type) ?? 0 };
    if (isJsonObject(value)) this.#addObject(value, `${path}.`, below);
    else if (Array.isArray(value)) this.#addItems(value, `${path}[]`, below.depth);
  }

  #addItems(items: readonly unknown[], path: string, depth: number): void {
    for (const item of items) {
      const field = this.#fieldAt(path, null);
      if (field === null) return;
      field.present++;
      this.#addItem(field, item, { path, depth });
    }
  }

  // Of a list's items the places are the items themselves: they are counted, null or not.
  #addItem(field: FieldCounts, item: unknown, { path, depth }: { path: string; depth: number }): void {
    if (item === null) return;
    const type = typeOf(item);
    field.types.set(type, (field.types.get(type) ?? 0) + 1);
    if (isJsonObject(item) && depth < DEEPEST)
      this.#addObject(item, `${path}.`, { depth: depth + 1, parents: () => field.types.get('object') ?? 0 });
    else if (Array.isArray(item) && depth < DEEPEST) this.#addItems(item, `${path}[]`, depth + 1);
  }

  #fieldAt(path: string, parents: (() => number) | null): FieldCounts | null {
    const known = this.#fields.get(path);
    if (known !== undefined) return known;
    if (this.#fields.size >= MOST_FIELDS) {
      if (this.#others.size < MOST_FIELDS) this.#others.add(path);
      return null;
    }
    const field: FieldCounts = { parents: () => 0, present: 0, types: new Map() };
    field.parents = parents ?? (() => field.present);
    this.#fields.set(path, field);
    return field;
  }
}

function fieldOf({ parents, types }: FieldCounts): InferredField {
  const valued = [...types.values()].reduce((sum, count) => sum + count, 0);
  const places = parents();
  const byCount = [...types].toSorted(([, a], [, b]) => b - a).map(([type]) => type);
  return { types: byCount, nullShare: places === 0 ? 0 : Math.max(0, 1 - valued / places) };
}

function typeOf(value: unknown): FieldType {
  if (Array.isArray(value)) return 'array';
  if (isJsonObject(value)) return 'object';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return 'integer';
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'number';
    default:
      return 'number'; // An exact number that is no integer (JSON.rawJSON).
  }
}

/** @param records parsed records of a dataset, as they are exported */
export async function inferSchema(records: AsyncIterable<unknown>): Promise<InferredSchema> {
  const inference = new SchemaInference();
  for await (const record of records) inference.add(record);
  return inference.result();
}

/** One difference between two runs. */
export type SchemaDrift = {
  field: string;
  change: 'added' | 'removed' | 'type' | 'nulls';
  /** What it was and is: types, or the null share in percent. */
  before: string | null;
  after: string | null;
};

// Below, a share moves by chance.
const NOTABLE_NULL_SHARE = 0.1;

/**
 * What has changed since an earlier run: fields that came or went, types that are new (an integer that becomes a
 * number is none), and null shares that moved by more than a tenth.
 */
export function driftBetween(before: InferredSchema, after: InferredSchema): SchemaDrift[] {
  const names = new Set([...Object.keys(before.fields), ...Object.keys(after.fields)]);
  return [...names].flatMap((field) => driftOf(field, before.fields[field], after.fields[field]));
}

function driftOf(field: string, before: InferredField | undefined, after: InferredField | undefined): SchemaDrift[] {
  if (before === undefined) return [{ field, change: 'added', before: null, after: typesText(after) }];
  if (after === undefined) return [{ field, change: 'removed', before: typesText(before), after: null }];
  const isNew = after.types.some((type) => !before.types.includes(type) && before.types.length > 0);
  const isWidened = typesText(widened(before)) === typesText(widened(after));
  if (isNew && !isWidened) return [{ field, change: 'type', before: typesText(before), after: typesText(after) }];
  if (Math.abs(before.nullShare - after.nullShare) <= NOTABLE_NULL_SHARE) return [];
  return [{ field, change: 'nulls', before: percent(before.nullShare), after: percent(after.nullShare) }];
}

function widened(field: InferredField): InferredField {
  const types = field.types.map((type) => (type === 'integer' ? 'number' : type));
  return { ...field, types: [...new Set(types)].toSorted() };
}

function typesText(field: InferredField | undefined): string {
  return field === undefined || field.types.length === 0 ? 'null' : field.types.join(' | ');
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
