import { hash } from 'node:crypto';
import type { CursorValue } from './incremental.ts';
import { jsonText, valueAt } from './json-value.ts';

/**
 * What is remembered of each page, written in the transaction of its records: completeness and increments are reckoned
 * from these alone, so they are right after a crash, over many workers, and when a page is handled twice.
 */
export type PageFacts = {
  /** Page number within its listing. */
  page: number;
  /** Position of its first record, where pages are counted by offset or number; null elsewhere. */
  offset: number | null;
  /** Records received. */
  count: number;
  /** Left out by the increment's window. */
  outside: number;
  /** Dropped by discardRow. */
  discarded: number;
  /** Kept though they do not fit. */
  drifted: number;
  /** Total the page declares; null = none. */
  declared: number | null;
  /** Largest cursor value of the page's records; null = none. */
  cursor: CursorValue | null;
  /** Hashes of the primary keys kept, HASH_CHARS each, in one text; "" without a primary key. */
  keys: string;
  /** The same of the records left out, as they came before. */
  repeated: string;
};

// 48 bits: among 10 million records of one listing, one false duplicate is expected every 6 listings.
export const HASH_CHARS = 8;
const HASH_BYTES = 6;

const PREFIX = 'pages/';

/**
 * Where a page's facts are kept. Spread over 64 shards by listing, so that the reckoning reads a part at a time.
 * @param listing names the listing within its resource: "" or a mark of the parent; with the epoch of a reset
 */
export function pageFactsKey(resource: string, listing: string, page: number): string {
  return `${shardPrefix(resource, shardOf(listing))}${listing}/${page}`;
}

/** @returns the prefixes under which all pages of a resource are kept */
export function pageFactsPrefixes(resource: string): string[] {
  return Array.from({ length: SHARDS }, (_, shard) => shardPrefix(resource, shard));
}

/** @returns the listing a key belongs to */
export function listingOf(key: string): string {
  return key.slice(key.indexOf('/', key.indexOf('/', PREFIX.length) + 1) + 1, key.lastIndexOf('/'));
}

const SHARDS = 64;

// By the mark alone: all starts of a listing lie together.
function shardOf(listing: string): number {
  const [mark = ''] = listing.split('~');
  return mark === '' ? 0 : Number.parseInt(hash('sha1', mark, 'hex').slice(0, 2), 16) % SHARDS;
}

function shardPrefix(resource: string, shard: number): string {
  return `${PREFIX}${resource}/${shard.toString(16).padStart(2, '0')}/`;
}

/** Reads the primary key of a record: the JSON of its values; null when one is missing. */
export type KeyReader = (record: unknown) => string | null;

/** @param fields dotted paths */
export function keyReader(fields: readonly string[]): KeyReader {
  return (record) => {
    const values = fields.map((field) => valueAt(record, field));
    return values.some((value) => value === undefined || value === null) ? null : jsonText(values);
  };
}

/** @returns the hash of a key, HASH_CHARS long */
export function keyHash(key: string): string {
  return hash('sha1', key, 'base64url').slice(0, HASH_CHARS);
}

/** @returns the hashes of one text as numbers of 48 bits */
export function keyNumbers(hashes: string): number[] {
  const numbers: number[] = [];
  const bytes = Buffer.from(hashes, 'base64url');
  for (let at = 0; at < bytes.length; at += HASH_BYTES) numbers.push(bytes.readUIntBE(at, HASH_BYTES));
  return numbers;
}
