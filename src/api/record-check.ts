import { Ajv } from 'ajv';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormatsModule, { type FormatsPlugin } from 'ajv-formats';
import type { z } from 'zod';
import { messageOf } from '../core/errors.ts';
import { isJsonObject, scalarText } from './json-value.ts';

/** One thing wrong with a record. */
export type FieldIssue = { path: (string | number)[]; message: string };

/** @returns what is wrong with a record; nothing when it fits */
export type RecordCheck = (record: unknown) => FieldIssue[];

/** A JSON Schema that cannot be used. */
export class RecordSchemaError extends Error {
  override readonly name = 'RecordSchemaError';
}

// A CommonJS default export, as Node's ESM sees it.
const addFormats = addFormatsModule as unknown as FormatsPlugin;

/**
 * Compiles a JSON Schema (draft 2020-12, or draft 7 where `$schema` says so) into a check.
 * @throws RecordSchemaError
 */
export function jsonSchemaCheck(schema: Record<string, unknown>): RecordCheck {
  const validate = compileJsonSchema(schema);
  return (record) => {
    if (validate(record)) return [];
    // Exact numbers (BigInt) are no numbers to the validator: only a record that fails is looked at again without them.
    const plain = withPlainNumbers(record);
    return plain === record || !validate(plain) ? (validate.errors ?? []).map(issueOf) : [];
  };
}

function compileJsonSchema(schema: Record<string, unknown>) {
  const isOld = typeof schema.$schema === 'string' && /draft-0[4-7]/.test(schema.$schema);
  const options = { allErrors: true, strict: false, validateFormats: true } as const;
  const ajv = isOld ? new Ajv(options) : new Ajv2020(options);
  addFormats(ajv);
  try {
    const { $schema: _dialect, ...rest } = schema;
    return ajv.compile(rest);
  } catch (error) {
    throw new RecordSchemaError(messageOf(error), { cause: error });
  }
}

function issueOf(error: ErrorObject): FieldIssue {
  const path = error.instancePath.split('/').slice(1).map(unescapePointer);
  const { additionalProperty, missingProperty, unevaluatedProperty } = error.params as Record<string, unknown>;
  const extra = additionalProperty ?? unevaluatedProperty ?? missingProperty;
  if (typeof extra === 'string') path.push(extra);
  return { path, message: error.message ?? error.keyword };
}

// RFC 6901 4.
function unescapePointer(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function withPlainNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return mapChanged(value, withPlainNumbers);
  if (isJsonObject(value)) return mapObject(value);
  return typeof value === 'object' && value !== null ? Number(scalarText(value)) : value;
}

function mapChanged(list: readonly unknown[], map: (value: unknown) => unknown): readonly unknown[] {
  const mapped = list.map(map);
  return mapped.some((value, at) => value !== list[at]) ? mapped : list;
}

function mapObject(object: Record<string, unknown>): Record<string, unknown> {
  const keys = Object.keys(object);
  const values = Object.values(object);
  const mapped = mapChanged(values, withPlainNumbers);
  return mapped === values ? object : Object.fromEntries(keys.map((key, at) => [key, mapped[at]]));
}

/** The same by a zod schema; its output is not used: records are kept as the API sent them. */
export function zodCheck(schema: z.ZodType): RecordCheck {
  return (record) => {
    const result = schema.safeParse(record);
    if (result.success) return [];
    return result.error.issues.flatMap((issue) => {
      const path = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
      const keys = issue.code === 'unrecognized_keys' ? issue.keys : [];
      return keys.length === 0
        ? [{ path, message: issue.message }]
        : keys.map((key) => ({ path: [...path, key], message: 'is not in the schema' }));
    });
  };
}
