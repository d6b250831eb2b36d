const ONES = 0x01010101;
const HIGH_BITS = 0x80808080 | 0;
const SPACES = 0x20202020;
const QUOTES = 0x22222222;
const BACKSLASHES = 0x5c5c5c5c;

/** Bytes that have to be there behind the last one that is looked for or copied: they come four at a time. */
export const RUN_SLACK = 4;

/** @returns a byte as `endOfPlainRun` takes it; for none, the quote that stops it anyway */
export function stopAt(byte: number | null): number {
  return byte === null ? QUOTES : Math.imul(byte, ONES);
}

/**
 * Looks at four bytes in the time of one: a byte is found by the bit that a subtraction carries out of it.
 * @param stop from `stopAt`
 * @returns the place of the first quote, backslash, control character or byte of `stop`, at or after `at`: there has to
 *   be one, and RUN_SLACK bytes behind it
 * @see Hacker's Delight, 6-1: in the lowest byte that is found there is no error by a carry from below
 */
export function endOfPlainRun(view: DataView, at: number, stop: number): number {
  for (let place = at; ; place += 4) {
    const word = view.getInt32(place, true);
    const quotes = word ^ QUOTES;
    const backslashes = word ^ BACKSLASHES;
    const stops = word ^ stop;
    const found =
      (((word - SPACES) & ~word) |
        ((quotes - ONES) & ~quotes) |
        ((backslashes - ONES) & ~backslashes) |
        ((stops - ONES) & ~stops)) &
      HIGH_BITS;
    if (found !== 0) return place + ((31 - Math.clz32(found & -found)) >> 3);
  }
}

/**
 * Copies bytes, four at a time: up to three more than asked for are written.
 * @returns the place after the last one asked for
 */
export function copyRun(source: DataView, start: number, end: number, target: DataView, targetAt: number): number {
  let to = targetAt;
  for (let from = start; from < end; from += 4, to += 4) target.setInt32(to, source.getInt32(from, true), true);
  return targetAt + end - start;
}

/** @returns the same bytes, to be looked at several at a time */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
