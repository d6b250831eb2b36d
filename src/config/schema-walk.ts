import { z } from 'zod';

/** @returns the schema without what only adds a default, null or absence */
export function bareSchema(schema: z.ZodType): z.ZodType {
  const isWrapper =
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable;
  return isWrapper ? bareSchema(schema.unwrap() as z.ZodType) : schema;
}

/** @returns the keys an object may have at a path; of all shapes it may have there. Empty where it is no object. */
export function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const keys = schemasAt(schema, path).flatMap((found) =>
    found instanceof z.ZodObject ? Object.keys(found.shape) : [],
  );
  return [...new Set(keys)];
}

/** @returns the bare schemas a value at the path may follow: several below a union, none below a path that leads nowhere */
export function schemasAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType[] {
  let found = alternatives(schema);
  for (const key of path) found = found.flatMap((parent) => childrenOf(parent, key)).flatMap(alternatives);
  return found;
}

function alternatives(schema: z.ZodType): z.ZodType[] {
  const bare = bareSchema(schema);
  return bare instanceof z.ZodUnion ? bare.options.flatMap((option) => alternatives(option as z.ZodType)) : [bare];
}

function childrenOf(schema: z.ZodType, key: PropertyKey): z.ZodType[] {
  if (schema instanceof z.ZodObject) {
    const child: unknown = schema.shape[key as string];
    return child === undefined ? [] : [child as z.ZodType];
  }
  if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType];
  return schema instanceof z.ZodArray ? [schema.element as z.ZodType] : [];
}
