/** What a dataset's records look like, inferred from the first of them. */
export type DatasetProfile = {
  name: string;
  /** Records in all. */
  count: number;
  /** Records looked at. */
  sampled: number;
  fields: FieldProfile[];
  /** Fields beyond those listed. */
  moreFields: number;
};

export type FieldProfile = {
  /** Keys joined by dots; `[]` stands for the items of an array. */
  path: string;
  /** Most frequent first: "text", "date-time", "integer", "number", "boolean", "object", "array". */
  types: string[];
  /** Share of the objects that could have it in which it is null, 0 to 1. */
  nullShare: number;
  /** Share of them in which it is not there. */
  missingShare: number;
  /** The objects that could have it, of those looked at. */
  places: number;
};

const SAMPLE_SIZE = 10_000;
const MOST_FIELDS = 200;
const DEEPEST = 6;

type Field = { types: Map<string, number>; nulls: number; present: number; parents: () => number };

/**
 * @param rows the dataset's rows in batches; read only as far as needed
 * @returns fields in first-seen order with types and shares
 */
export async function profileDataset(
  { name, count }: { name: string; count: number },
  rows: AsyncIterable<readonly { json: string }[]>,
): Promise<DatasetProfile> {
  const profiler = new Profiler();
  let sampled = 0;
  for await (const batch of rows) {
    for (const { json } of batch.slice(0, SAMPLE_SIZE - sampled)) profiler.add(JSON.parse(json));
    sampled = Math.min(SAMPLE_SIZE, sampled + batch.length);
    if (sampled === SAMPLE_SIZE) break;
  }
  return { name, count, sampled, ...profiler.result() };
}

class Profiler {
  readonly #fields = new Map<string, Field>();
  readonly #objects = new Map<string, number>();
  readonly #more = new Set<string>();

  add(record: unknown): void {
    if (isObject(record)) this.#object(record, '', 0);
    else this.#value(record, 'value', { parentPath: '', depth: 0 });
  }

  result(): { fields: FieldProfile[]; moreFields: number } {
    const fields = [...this.#fields].map(([path, { types, nulls, present, parents }]) => ({
      path,
      types: [...types].sort(([, a], [, b]) => b - a).map(([type]) => type),
      nullShare: nulls / parents(),
      missingShare: Math.max(0, 1 - present / parents()),
      places: parents(),
    }));
    return { fields, moreFields: this.#more.size };
  }

  #object(object: Record<string, unknown>, path: string, depth: number): void {
    this.#objects.set(path, (this.#objects.get(path) ?? 0) + 1);
    for (const [key, value] of Object.entries(object))
      this.#value(value, path === '' ? key : `${path}.${key}`, { parentPath: path, depth });
  }

  #value(value: unknown, path: string, { parentPath, depth }: { parentPath: string; depth: number }): void {
    const field = this.#field(path, parentPath);
    if (field === null) return;
    field.present++;
    if (value === null) field.nulls++;
    else field.types.set(typeOf(value), (field.types.get(typeOf(value)) ?? 0) + 1);
    if (depth >= DEEPEST) return;
    if (isObject(value)) this.#object(value, path, depth + 1);
    if (Array.isArray(value)) for (const item of value) this.#item(item, `${path}[]`, depth + 1);
  }

  #item(item: unknown, path: string, depth: number): void {
    if (isObject(item)) this.#object(item, path, depth);
    else {
      this.#objects.set(path, (this.#objects.get(path) ?? 0) + 1);
      this.#value(item, path, { parentPath: path, depth });
    }
  }

  #field(path: string, parentPath: string): Field | null {
    const found = this.#fields.get(path);
    if (found !== undefined) return found;
    if (this.#fields.size >= MOST_FIELDS) {
      // Only so many are told apart: objects with ids for keys have no end of them.
      if (this.#more.size < 10_000) this.#more.add(path);
      return null;
    }
    const parents = (): number => this.#objects.get(parentPath) ?? this.#fields.get(path)?.present ?? 1;
    const fresh: Field = { types: new Map(), nulls: 0, present: 0, parents };
    this.#fields.set(path, fresh);
    return fresh;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const DATE_TIME = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'string') return DATE_TIME.test(value) ? 'date-time' : 'text';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
