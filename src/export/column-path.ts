import { UsageError } from '../core/errors.ts';

/**
 * A column's path: the keys that lead to it, joined by dots; a dot or backslash within a key has a backslash before it,
 * so that {"a.b": 1} (`a\.b`) and {"a": {"b": 1}} (`a.b`) are two columns.
 */
export type ColumnPath = string;

/** The column of records that are no objects with keys: a number, an array, {}. */
export const ROOT_PATH: ColumnPath = '\\$';
/** The column that takes what comes after the last of MOST_COLUMNS, as a JSON object. */
export const REST_PATH: ColumnPath = '\\*';

/** Spreadsheets end at column XFD. */
export const MOST_COLUMNS = 16_384;

/** @param parent ROOT_PATH or the path of an object */
export function childPath(parent: ColumnPath, key: string): ColumnPath {
  const escaped = key.replaceAll(/[\\.]/g, '\\$&');
  return parent === ROOT_PATH ? escaped : `${parent}.${escaped}`;
}

/** @returns the keys that lead to a column; none for that of the whole record */
export function keysOf(path: ColumnPath): string[] {
  if (path === ROOT_PATH || path === REST_PATH) return [];
  const keys: string[] = [];
  let key = '';
  for (let at = 0; at < path.length; at++) {
    if (path[at] === '.') {
      keys.push(key);
      key = '';
    } else key += path[at] === '\\' ? path[++at] : path[at];
  }
  return [...keys, key];
}

/**
 * Names for a header: the keys joined by dots, backslashes gone. Where two columns would have one name the later one
 * gets a number, `a.b_2`. Names are given in first-seen order, so that a column keeps its name as others join.
 */
export function columnNames(paths: readonly ColumnPath[]): string[] {
  const used = new Set<string>();
  return paths.map((path) => {
    const wanted = plainName(path);
    let name = wanted;
    for (let number = 2; used.has(name); number++) name = `${wanted}_${number}`;
    used.add(name);
    return name;
  });
}

function plainName(path: ColumnPath): string {
  if (path === ROOT_PATH) return 'value';
  if (path === REST_PATH) return '_rest';
  return keysOf(path).join('.');
}

/** @returns the fields of `a,b.c`; a comma within a key is written `\,` */
export function parseFields(text: string): string[] {
  return text
    .split(/(?<!\\),/)
    .map((field) => field.trim().replaceAll('\\,', ','))
    .filter((field) => field !== '');
}

/**
 * The columns that fields name, in the order of the fields: by header name or by path; an object's name stands for
 * all columns below it.
 * @throws UsageError when a field names none
 */
export function selectColumns(paths: readonly ColumnPath[], fields: readonly string[]): ColumnPath[] {
  const byName = new Map(columnNames(paths).map((name, index) => [name, paths[index] as ColumnPath]));
  const known = new Set(paths);
  const selected = fields.flatMap((field) => {
    const exact = known.has(field) ? field : byName.get(field);
    const below = paths.filter((path) => path.startsWith(`${field}.`));
    const found = exact === undefined ? below : [exact, ...below];
    if (found.length === 0) throw new UsageError(`No column "${field}"; there are ${listed([...byName.keys()])}`);
    return found;
  });
  return [...new Set(selected)];
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 20).join(', ');
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown;
}
