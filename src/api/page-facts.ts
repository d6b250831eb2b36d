import { hash } from 'node:crypto';
import type { CursorValue } from './incremental.ts';
import { jsonText, scalarText, valueAt } from './json-value.ts';

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
  /** Hashes of the primary keys kept (packKeys); "" without a primary key. */
  keys: string;
  /** The same of the records left out, as they came before. */
  repeated: string;
};

// 48 bits: among 10 million records of one resource, one false duplicate is expected every 6 runs.
const KEY_BYTES = 6;

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

/** Reads the primary key of a record as a number of 48 bits; null when a field of it is missing. */
export type KeyReader = (record: unknown) => number | null;

/** @param fields dotted paths */
export function keyReader(fields: readonly string[]): KeyReader {
  return (record) => {
    let text = '';
    for (const field of fields) {
      const value = valueAt(record, field);
      if (value === undefined || value === null) return null;
      // 1 and "1" are two keys.
      text += `${typeof value === 'string' ? JSON.stringify(value) : (scalarText(value) ?? jsonText(value))},`;
    }
    return hash48(text);
  };
}

/**
 * A quick hash of 48 bits: cyrb53 by bryc (public domain) without its 5 highest bits. SHA-1 takes ten times as long,
 * and a key is not an adversary's to choose: it is the API's own.
 * @see https://github.com/bryc/code/blob/master/jshash/experimental/cyrb53.js
 */
export function hash48(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (low & 0xffff) * 2 ** 32 + (high >>> 0);
}

/** @returns the keys in one text, 8 characters each */
export function packKeys(keys: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(keys.length * KEY_BYTES);
  for (const [at, key] of keys.entries()) bytes.writeUIntBE(key, at * KEY_BYTES, KEY_BYTES);
  return bytes.toString('base64url');
}

export function unpackKeys(text: string): number[] {
  const bytes = Buffer.from(text, 'base64url');
  return Array.from({ length: bytes.length / KEY_BYTES }, (_, at) => bytes.readUIntBE(at * KEY_BYTES, KEY_BYTES));
}
