import type { SchemaContract } from '../config/api-schema.ts';
import { ApiError } from './api-error.ts';
import { isJsonObject, type JsonObject } from './json-value.ts';
import type { FieldIssue, RecordCheck } from './record-check.ts';

/** A record that does not fit its schema. */
export type InvalidRecord = { record: unknown; issues: readonly FieldIssue[] };

/** What a contract makes of a page's records. */
export type Sifted = {
  kept: unknown[];
  /** For dataset `invalid`. */
  quarantined: InvalidRecord[];
  /** Records dropped by discardRow. */
  discarded: number;
  /** Records kept though they do not fit (evolve), or less a value (discardValue). */
  drifted: number;
};

/**
 * Applies a schema contract to the records of a page.
 * @throws ApiError SCHEMA_FROZEN
 */
export function siftRecords(records: readonly unknown[], check: RecordCheck | null, contract: SchemaContract): Sifted {
  const sifted: Sifted = { kept: [], quarantined: [], discarded: 0, drifted: 0 };
  for (const record of records) {
    const issues = check?.(record) ?? [];
    if (issues.length === 0) sifted.kept.push(record);
    else siftOne(sifted, { record, issues }, contract);
  }
  return sifted;
}

function siftOne(sifted: Sifted, invalid: InvalidRecord, contract: SchemaContract): void {
  switch (contract) {
    case 'quarantine':
      sifted.quarantined.push(invalid);
      return;
    case 'discardRow':
      sifted.discarded++;
      return;
    case 'evolve':
      sifted.drifted++;
      sifted.kept.push(invalid.record);
      return;
    case 'discardValue':
      sifted.drifted++;
      sifted.kept.push(withoutValues(invalid.record, invalid.issues));
      return;
    case 'freeze':
      throw frozen(invalid);
  }
}

function frozen({ issues }: InvalidRecord): ApiError {
  const [first] = issues;
  return new ApiError({
    code: 'SCHEMA_FROZEN',
    message:
      `A record does not fit its schema: ${first?.path.join('.') || 'the record'} ${first?.message ?? ''}`.trim(),
  });
}

/** A copy without the values named by the issues; a required value that is missing stays missing. */
function withoutValues(record: unknown, issues: readonly FieldIssue[]): unknown {
  return issues.reduce((copy, issue) => withoutPath(copy, issue.path), record);
}

function withoutPath(value: unknown, path: readonly (string | number)[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return withoutItem(value, Number(key), rest);
  if (!isJsonObject(value) || !Object.hasOwn(value, key)) return value;
  const { [key]: inner, ...others }: JsonObject = value;
  return rest.length === 0 ? others : { ...value, [key]: withoutPath(inner, rest) };
}

// An item that does not fit becomes null: taking it out would move the indexes of those after it.
function withoutItem(list: readonly unknown[], index: number, rest: readonly (string | number)[]): unknown[] {
  return list.with(index, rest.length === 0 ? null : withoutPath(list[index], rest));
}
