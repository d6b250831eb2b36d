import { z } from 'zod';

/**
 * The same object schema with every key optional and no defaults, at any depth: for entries that are laid over one
 * another before the defaults are filled in. Descriptions stay.
 */
export function withoutDefaults(schema: z.ZodObject): z.ZodObject {
  const shape: Record<string, z.ZodType> = {};
  for (const [key, field] of Object.entries(schema.shape)) shape[key] = optionalField(field as z.ZodType);
  return z.strictObject(shape);
}

function optionalField(field: z.ZodType): z.ZodType {
  const inner = unwrapDefault(field);
  const bare = inner instanceof z.ZodObject ? withoutDefaults(inner) : inner;
  const optional = bare.optional();
  return field.description ? optional.describe(field.description) : optional;
}

function unwrapDefault(field: z.ZodType): z.ZodType {
  if (field instanceof z.ZodDefault || field instanceof z.ZodPrefault)
    return unwrapDefault(field.unwrap() as z.ZodType);
  return field;
}
