import type { Transform } from 'node:stream';
import {
  brotliDecompressSync,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  zstdDecompressSync,
} from 'node:zlib';
import { LazyTransform } from './lazy-transform.ts';

/** A content coding that is undone here. */
export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

const CODINGS: Record<string, Coding> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  br: 'br',
  zstd: 'zstd',
};
// Not codings, but sent as such by servers that mean "none".
const NO_CODINGS: ReadonlySet<string> = new Set(['', 'identity', 'none', 'utf-8', 'utf8', 'binary', '7bit', '8bit']);
// curl's limit; more is an attack.
const MOST_CODINGS = 5;
// RFC 9659 3: a zstd window of at most 8 MiB, so that a response cannot make us hold more.
const ZSTD_WINDOW = { [constants.ZSTD_d_windowLogMax]: 23 };

/**
 * Reads Content-Encoding.
 * @returns the codings to undo, first to last; "unsupported: NAME" when one is unknown or there are too many
 */
export function readCodings(header: string | readonly string[]): readonly Coding[] | `unsupported: ${string}` {
  const names = String(header)
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => !NO_CODINGS.has(name));
  if (names.length > MOST_CODINGS) return `unsupported: ${names.length} codings`;
  const unknown = names.find((name) => !Object.hasOwn(CODINGS, name));
  if (unknown !== undefined) return `unsupported: ${unknown.slice(0, 50)}`;
  // Listed in the order they were applied (RFC 9110 8.4).
  return names.map((name) => CODINGS[name]!).reverse();
}

/**
 * Undoes one coding of a whole body.
 * @throws Node's zlib error; code ERR_BUFFER_TOO_LARGE when the result is longer than `maxBytes`
 */
export function decodeWhole(body: Buffer, coding: Coding, maxBytes: number): Buffer {
  const limit = { maxOutputLength: maxBytes };
  switch (coding) {
    case 'gzip':
      return gunzipSync(body, limit);
    case 'deflate':
      return hasZlibHeader(body) ? inflateSync(body, limit) : inflateRawSync(body, limit);
    case 'br':
      return brotliDecompressSync(body, limit);
    case 'zstd':
      return zstdDecompressSync(body, { ...limit, params: ZSTD_WINDOW });
  }
}

/** @returns a stream that undoes one coding */
export function createDecoder(coding: Coding): Transform {
  switch (coding) {
    case 'gzip':
      return createGunzip();
    case 'deflate':
      return new LazyTransform((first) => (hasZlibHeader(first) ? createInflate() : createInflateRaw()));
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress({ params: ZSTD_WINDOW });
  }
}

// Servers send both under the name "deflate". RFC 1950 2.2: method 8, and the first two bytes divide by 31; a lone
// first byte decides by the method.
function hasZlibHeader(body: Buffer): boolean {
  const first = body[0] ?? 0;
  const second = body[1];
  return (first & 0x0f) === 8 && (second === undefined || (first * 256 + second) % 31 === 0);
}
