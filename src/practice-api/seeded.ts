/**
 * A hash of numbers and texts, well spread, the same everywhere: what makes the practice data repeatable.
 * @returns an integer from 0 to 2^32 - 1
 */
export function hashOf(...parts: readonly (number | string)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) hash = typeof part === 'number' ? mixNumber(hash, part) : mixText(hash, part);
  return finish(hash);
}

/** A stream of numbers in [0, 1) that depends on nothing but its parts. */
export function seededRandom(...parts: readonly (number | string)[]): () => number {
  let state = hashOf(...parts);
  return () => {
    state = (state + 0x9e3779b9) >>> 0; // the golden ratio's bits: a Weyl sequence never repeats within 2^32
    return finish(state) / 2 ** 32;
  };
}

function mixNumber(hash: number, value: number): number {
  return mix(mix(hash, value | 0), Math.floor(value / 2 ** 32) | 0);
}

// FNV-1a over UTF-16 units.
function mixText(hash: number, text: string): number {
  let mixed = hash;
  for (let index = 0; index < text.length; index++) mixed = Math.imul(mixed ^ text.charCodeAt(index), 0x01000193);
  return mixed;
}

function mix(hash: number, value: number): number {
  return Math.imul(hash ^ value, 0x01000193) ^ (hash >>> 15);
}

// The finaliser of MurmurHash3: every input bit reaches every output bit.
function finish(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
