import { ApiError } from './answers.ts';

/** Query parameters as they came; repeated ones as a list. */
export type Query = Record<string, string | string[] | undefined>;

const DEFAULT_PAGE_SIZE = 15;
const LARGEST_PAGE_SIZE = 100;

/**
 * @returns the parameter as an integer, or `fallback` when absent
 * @throws ApiError 400 when it is no integer within the range
 */
export function readInteger(
  query: Query,
  name: string,
  range: { fallback: number; least: number; most: number },
): number {
  const text = query[name];
  if (text === undefined) return range.fallback;
  const value = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.least && value <= range.most) return value;
  throw badParameter(name, `must be an integer from ${range.least} to ${range.most}`);
}

/** @param name the parameter that has the page's size: "limit", "per_page" */
export function readPageSize(query: Query, name: string, fallback = DEFAULT_PAGE_SIZE): number {
  return readInteger(query, name, { fallback, least: 1, most: LARGEST_PAGE_SIZE });
}

/** @returns the page asked for, from 1 */
export function readPage(query: Query): number {
  return readInteger(query, 'page', { fallback: 1, least: 1, most: Number.MAX_SAFE_INTEGER });
}

export function badParameter(name: string, problem: string): ApiError {
  return new ApiError({ status: 400, code: 'bad_parameter', message: `${name} ${problem}` });
}

/** @returns an opaque cursor that holds the numbers */
export function writeCursor(...numbers: readonly number[]): string {
  return Buffer.from(numbers.join(':')).toString('base64url');
}

/**
 * @returns the numbers of a cursor written by `writeCursor`; undefined when there is none
 * @throws ApiError 400 when it is not one of ours
 */
export function readCursor(cursor: unknown, count: number): number[] | undefined {
  if (cursor === undefined || cursor === null || cursor === '') return undefined;
  const text = Buffer.from(String(cursor), 'base64url').toString();
  const numbers = text.split(':').map((part) => (/^\d{1,15}$/.test(part) ? Number(part) : Number.NaN));
  if (numbers.length === count && numbers.every(Number.isFinite)) return numbers;
  throw badParameter('cursor', 'is not one that this API gave out');
}

/** @returns the URL with some query parameters replaced, the others kept */
export function withQuery(url: string, parameters: Record<string, number>): string {
  const changed = new URL(url);
  for (const [name, value] of Object.entries(parameters)) changed.searchParams.set(name, String(value));
  return changed.href;
}

/** @returns a Link header (RFC 8288) from relations to URLs; null ones left out */
export function linkHeader(links: Record<string, string | null>): string {
  return Object.entries(links)
    .filter(([, url]) => url !== null)
    .map(([relation, url]) => `<${url}>; rel="${relation}"`)
    .join(', ');
}
