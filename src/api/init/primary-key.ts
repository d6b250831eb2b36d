import { isJsonObject, scalarText } from '../json-value.ts';

const USUAL_KEYS = ['id', '_id', 'uuid', 'guid', 'key', 'number', 'code', 'slug', 'sku'];

/**
 * The field that most likely tells records apart: one with a usual name that every record has, each another value.
 * @param singular name of one record ("product"), for keys such as product_id; null when unknown
 */
export function guessPrimaryKey(records: readonly unknown[], singular: string | null): string | null {
  const objects = records.filter(isJsonObject);
  if (objects.length === 0 || objects.length < records.length) return null;
  const own = singular === null ? [] : [`${singular}_id`, `${singular}Id`, `${singular}ID`];
  const isKey = (field: string): boolean => {
    const values = objects.map((object) => scalarText(object[field]));
    return values.every((value) => value !== undefined) && new Set(values).size === values.length;
  };
  return [...USUAL_KEYS, ...own].find(isKey) ?? null;
}

/** The same from a schema, where no values are known. */
export function guessPrimaryKeyByName(fields: readonly string[], singular: string | null): string | null {
  const own = singular === null ? [] : [`${singular}_id`, `${singular}Id`, `${singular}ID`];
  return [...USUAL_KEYS, ...own].find((key) => fields.includes(key)) ?? null;
}

/** "products" and "categories" become "product" and "category"; what has no plural stays. */
export function singularOf(name: string): string {
  if (/ies$/i.test(name)) return name.replace(/ies$/i, 'y');
  if (/(ss|us|is)$/i.test(name)) return name;
  return name.replace(/s$/i, '');
}

/** @returns a resource name from a path: its last part that is no parameter */
export function resourceNameOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && !part.startsWith('{') && !/^v\d+(\.\d+)*$/.test(part));
  const name = (parts.at(-1) ?? 'records').replace(/\.json$/, '').replaceAll(/[^A-Za-z0-9_]+/g, '_');
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}
