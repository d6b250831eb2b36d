import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Bytes } from '../../../src/queue/sources/bytes.ts';
import { type Line, readLines, TOO_LONG } from '../../../src/queue/sources/lines.ts';

async function* inPieces(bytes: Buffer, pieceBytes: number): Bytes {
  for (let start = 0; start < bytes.length; start += pieceBytes) yield bytes.subarray(start, start + pieceBytes);
}

async function linesOf(bytes: Buffer, pieceBytes = 1024 * 1024): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const some of readLines(inPieces(bytes, pieceBytes))) lines.push(...some);
  return lines;
}

test('cuts at LF and CRLF, wherever the bytes were cut, and keeps characters of several bytes whole', async () => {
  const line = fc.stringMatching(/^[a-zé€😀 \t"]{0,12}$/u);
  const lineBreak = fc.constantFrom('\n', '\r\n');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(line, lineBreak)), fc.integer({ min: 1, max: 7 }), async (pairs, pieceBytes) => {
      const text = pairs.map(([content, end]) => content + end).join('');
      expect(await linesOf(Buffer.from(text), pieceBytes)).toEqual(pairs.map(([content]) => content));
    }),
  );
});

test('a last line without a line break counts, an empty rest does not', async () => {
  expect(await linesOf(Buffer.from('a\nb'))).toEqual(['a', 'b']);
  expect(await linesOf(Buffer.from('a\nb\n'))).toEqual(['a', 'b']);
  expect(await linesOf(Buffer.from('a\n\n'))).toEqual(['a', '']);
  expect(await linesOf(Buffer.from(''))).toEqual([]);
});

test.each([1024, 2])(
  'drops a byte order mark, in UTF-8 and in UTF-16, read in pieces of %i bytes',
  async (pieceBytes) => {
    const utf8 = Buffer.from('\uFEFFhttps://a.b/é\r\nx');
    const utf16 = Buffer.from('\uFEFFhttps://a.b/é\r\nx', 'utf16le');
    expect(await linesOf(utf16, pieceBytes)).toEqual(['https://a.b/é', 'x']);
    expect(await linesOf(utf8, Math.max(pieceBytes, 3))).toEqual(['https://a.b/é', 'x']);
  },
);

test('drops a line of more than 16 MiB without keeping it, and goes on after it', async () => {
  const long = Buffer.concat([Buffer.from('a\n'), Buffer.alloc(17 * 1024 * 1024, 'x'), Buffer.from('\nb\n')]);
  expect(await linesOf(long)).toEqual(['a', TOO_LONG, 'b']);
});
