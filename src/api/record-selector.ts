import { compile } from 'json-p3';
import { ApiError } from './api-error.ts';
import { isJsonObject, type JsonObject } from './json-value.ts';
import { compileSelector, type Selector } from './selector.ts';

/** What a page holds. */
export type PageRecords = {
  records: readonly unknown[];
  /** Length of the list they were picked from: more than the records where the selector filters. */
  listLength: number;
};

/** Picks the records of a page. `isFirst`: nothing at all where the records should be is an error then. */
export type RecordSelector = {
  /** How the records were picked: the selector, or what was found, for the log. */
  describe(body: unknown): string;
  /** @throws ApiError SELECTOR_NO_MATCH, SELECTOR_NO_LIST */
  select(body: unknown, page: { isFirst: boolean }): PageRecords;
};

/**
 * @param text JSONPath of the records, or of the list that holds them; null = the list with the usual name, the only
 *   list there is, or else the body as one record
 * @throws SelectorSyntaxError
 */
export function compileRecordSelector(text: string | null): RecordSelector {
  return text === null ? guessingSelector : declaredSelector(compileSelector(text), containerOf(text));
}

const guessingSelector: RecordSelector = {
  describe: (body) => guessRecordPath(body),
  select(body) {
    const path = guessRecordPath(body);
    const found = compileSelector(path).all(body).map(asRecord);
    return { records: found, listLength: found.length };
  },
};

function declaredSelector(selector: Selector, container: Selector | null): RecordSelector {
  return {
    describe: () => selector.text,
    select(body, { isFirst }) {
      const matches = selector.all(body);
      const holder = container?.first(body);
      if (matches.length === 0 && isFirst && !mayBeEmpty(holder)) throw noMatch(selector, body);
      const records = (container ? matches : listed(matches, selector)).map(asRecord);
      return { records, listLength: Array.isArray(holder) ? Math.max(holder.length, records.length) : records.length };
    },
  };
}

// `$.items` names the list itself, `$.groups[*].items` several, `$.item` the one record; null is an empty list, as many
// servers write it.
function listed(matches: readonly unknown[], selector: Selector): readonly unknown[] {
  const [only] = matches;
  if (matches.length === 1 && !Array.isArray(only) && !isJsonObject(only) && only !== null)
    throw noList(selector, only);
  return matches.flatMap((match) => match ?? []);
}

/** Lists of bare values (ids, names) become records `{value}`, as dlt makes them. */
function asRecord(value: unknown): unknown {
  return isJsonObject(value) || Array.isArray(value) ? value : { value };
}

function mayBeEmpty(holder: unknown): boolean {
  return Array.isArray(holder) || holder === null || isJsonObject(holder);
}

/** The query without its last segment where that one picks members: `$.a.b` of `$.a.b[*]` and `$.a.b[?@.x]`. */
function containerOf(text: string): Selector | null {
  const { segments } = compileQuery(text);
  const last = segments.at(-1)?.toString() ?? '';
  const picksMembers = /^\[(\*|\?|-?\d*:)/.test(last);
  if (!picksMembers) return null;
  const path = segments.slice(0, -1).map(String).join('');
  return compileSelector(`$${path}`);
}

function compileQuery(text: string) {
  compileSelector(text);
  return compile(text);
}

function noMatch(selector: Selector, body: unknown): ApiError {
  return new ApiError({
    code: 'SELECTOR_NO_MATCH',
    message: `dataSelector ${selector.text} matches nothing on the first page. ${keysThere(body)}`,
  });
}

function noList(selector: Selector, value: unknown): ApiError {
  return new ApiError({
    code: 'SELECTOR_NO_LIST',
    message: `dataSelector ${selector.text} yields ${kindOf(value)}, not records`,
  });
}

/** @returns a sentence on what a body holds: the paths of its lists, else its keys. */
export function keysThere(body: unknown): string {
  if (Array.isArray(body)) return 'The body is a list: $[*]';
  if (!isJsonObject(body)) return `The body is ${kindOf(body)}`;
  const lists = listPaths(body);
  if (lists.length > 0) return `Lists there: ${lists.slice(0, 5).join(', ')}`;
  return `Keys there: ${Object.keys(body).slice(0, 20).join(', ') || 'none'}`;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return `a ${typeof value}`;
}

// The names dlt looks for, in its order of preference, and GraphQL's.
const USUAL_NAMES = [
  'data',
  'items',
  'results',
  'entries',
  'records',
  'rows',
  'entities',
  'payload',
  'content',
  'objects',
  'values',
  'nodes',
  'edges',
];

/**
 * Where the records of a body most likely are.
 * @returns a JSONPath; `$` for a body that is one record itself
 */
export function guessRecordPath(body: unknown): string {
  if (Array.isArray(body)) return '$[*]';
  if (!isJsonObject(body)) return '$';
  const lists = listPaths(body);
  const usual = USUAL_NAMES.flatMap((name) =>
    lists.filter((path) => path.endsWith(`.${name}[*]`) || path.endsWith(`['${name}'][*]`)),
  );
  if (usual[0] !== undefined) return usual[0];
  return lists.length === 1 ? lists[0]! : '$';
}

// Down to two levels: deeper lists are part of a record more often than not.
function listPaths(body: JsonObject, prefix = '$', depth = 0): string[] {
  const direct: string[] = [];
  const nested: string[] = [];
  for (const [key, value] of Object.entries(body)) {
    const path = `${prefix}${/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `['${key.replaceAll(/['\\]/g, '\\$&')}']`}`;
    if (Array.isArray(value) && value.every((item) => typeof item === 'object')) direct.push(`${path}[*]`);
    else if (isJsonObject(value) && depth < 2) nested.push(...listPaths(value, path, depth + 1));
  }
  return [...direct, ...nested];
}
