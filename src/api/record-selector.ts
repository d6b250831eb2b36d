import { compile } from 'json-p3';
import { ApiError } from './api-error.ts';
import { isJsonObject, type JsonObject } from './json-value.ts';
import { compileSelector, type Selector } from './selector.ts';

/** What a page holds. */
export type PageRecords = {
  records: readonly unknown[];
  /** Length of the list they were picked from: more than the records where the selector filters. */
  listLength: number;
  /** Where they were found, when that was guessed: the pages after this one are read the same way. */
  guessedPath: string | null;
};

export type PickOptions = {
  /** Nothing at all where the records should be is an error on the first page. */
  isFirst: boolean;
  /** What the first page's guess was; null = none yet. */
  guessedPath: string | null;
};

/**
 * Picks the records of a page.
 * @throws ApiError SELECTOR_NO_MATCH, SELECTOR_NO_LIST
 */
export type RecordSelector = (body: unknown, options: PickOptions) => PageRecords;

/**
 * @param text JSONPath of the records, or of the list that holds them; null = the list with the usual name, the only
 *   list there is, or else the body as one record
 * @throws SelectorSyntaxError
 */
export function compileRecordSelector(text: string | null): RecordSelector {
  return text === null ? guessingSelector : declaredSelector(compileSelector(text), containerOf(text));
}

const guessingSelector: RecordSelector = (body, { guessedPath }) => {
  const path = guessedPath ?? guessRecordPath(body);
  const records = compileSelector(path).all(body).map(asRecord);
  return { records, listLength: records.length, guessedPath: path };
};

function declaredSelector(selector: Selector, container: Selector | null): RecordSelector {
  return (body, { isFirst }) => {
    const matches = selector.all(body);
    const holder = container?.first(body);
    if (matches.length === 0 && isFirst && !mayBeEmpty(holder)) throw noMatch(selector, body);
    // A map of records by id is fine; an envelope's list and total are no records.
    if (isJsonObject(holder) && matches.some((match) => match !== null && !isJsonObject(match)))
      throw noMap(selector, { holder, body });
    const records = (container ? matches : listed(matches, { selector, body })).map(asRecord);
    const listLength = Array.isArray(holder) ? Math.max(holder.length, records.length) : records.length;
    return { records, listLength, guessedPath: null };
  };
}

// `$.items` names the list itself, `$.groups[*].items` several, `$.item` the one record; null is an empty list, as many
// servers write it.
function listed(
  matches: readonly unknown[],
  { selector, body }: { selector: Selector; body: unknown },
): readonly unknown[] {
  const [only] = matches;
  if (matches.length === 1 && !Array.isArray(only) && !isJsonObject(only) && only !== null)
    throw noList(selector, { value: only, body });
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

function noList(selector: Selector, { value, body }: { value: unknown; body: unknown }): ApiError {
  return new ApiError({
    code: 'SELECTOR_NO_LIST',
    message: `dataSelector ${selector.text} yields ${kindOf(value)}, not records. ${keysThere(body)}`,
  });
}

function noMap(selector: Selector, { holder, body }: { holder: JsonObject; body: unknown }): ApiError {
  const members = Object.keys(holder).slice(0, 20).join(', ');
  return new ApiError({
    code: 'SELECTOR_NO_LIST',
    message: `dataSelector ${selector.text} yields the members of an object (${members}), not records. ${keysThere(body)}`,
  });
}

/** @returns a sentence on what a body holds: the paths of its lists, else its keys. */
export function keysThere(body: unknown): string {
  if (Array.isArray(body)) return 'The body is a list: $[*]';
  if (!isJsonObject(body)) return `The body is ${kindOf(body)}`;
  const lists = listPaths(body).map(({ path }) => path);
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
  if (!isJsonObject(body) || Object.keys(body).some((key) => ID_KEY.test(key))) return '$';
  const lists = listPaths(body);
  const usual = USUAL_NAMES.flatMap((name) =>
    lists.filter(({ path }) => path.endsWith(`.${name}[*]`) || path.endsWith(`['${name}'][*]`)),
  );
  if (usual[0] !== undefined) return usual[0].path;
  const [only, ...others] = lists.filter(({ isEmpty }) => !isEmpty || isEnvelope(body));
  return only !== undefined && others.length === 0 ? only.path : '$';
}

// What has an id is a record, its lists are parts of it.
const ID_KEY = /^(id|_id|uuid|guid)$/i;
// An envelope speaks of the list in it.
const ENVELOPE_KEY =
  /^(total|count|pages?$|per_?page|limit|offset|next|prev|has_?more|_?links$|meta$|paging|pagination|cursor)/i;

function isEnvelope(body: JsonObject): boolean {
  return Object.keys(body).some((key) => ENVELOPE_KEY.test(key));
}

// Down to two levels: deeper lists are part of a record more often than not.
type ListPath = { path: string; isEmpty: boolean };

function listPaths(body: JsonObject, prefix = '$', depth = 0): ListPath[] {
  const direct: ListPath[] = [];
  const nested: ListPath[] = [];
  for (const [key, value] of Object.entries(body)) {
    const path = `${prefix}${/^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `['${key.replaceAll(/['\\]/g, '\\$&')}']`}`;
    if (Array.isArray(value) && value.every((item) => typeof item === 'object'))
      direct.push({ path: `${path}[*]`, isEmpty: value.length === 0 });
    else if (isJsonObject(value) && depth < 2) nested.push(...listPaths(value, path, depth + 1));
  }
  return [...direct, ...nested];
}
