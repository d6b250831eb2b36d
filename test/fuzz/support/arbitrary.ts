import fc from 'fast-check';

/** Pieces that parsers of headers stumble over, beside any text a header may carry. */
const PIECES = [
  ...['0', '1', '-1', '1e9', '99999999999999999999', '1.5', 'NaN', 'Infinity', '0x10', ' ', '\t', ''],
  ...[';', ',', '=', '"', '\\', '(', ')', ':', '/', '?', '#', '%', '<', '>', '&', '|', '*', 'é'],
  ...[
    'w=60',
    'q=100',
    'r=0',
    't=30',
    'remaining',
    'limit',
    'reset',
    'burst',
    'rel="next"',
    'rel=next',
    'charset=utf-16',
  ],
  ...['Wed, 21 Oct 2026 07:28:00 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT', 'expires=', 'Max-Age=-1', 'Domain=', 'Path=/'],
  ...[
    'http://',
    'https://x.example/',
    '//',
    '..',
    'file:///etc/passwd',
    'javascript:',
    '\\\\',
    '127.0.0.1:99999',
    '[::1]',
  ],
  ...['application/json', 'text/html; charset="', 'gzip', 'identity', '"a";q=', '__proto__', 'constructor'],
];

/** Text as a header may carry it: no line break, no NUL. */
export const headerText: fc.Arbitrary<string> = fc.oneof(
  fc
    .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 4 })), { maxLength: 14 })
    .map((pieces) => pieces.join('').replaceAll(/[\r\n\0]/g, '')),
  fc.string({ unit: 'binary-ascii', maxLength: 60 }).map((text) => text.replaceAll(/[\r\n\0]/g, '')),
  // Long ones show what takes time that grows with the square of the length.
  fc.constantFrom(...PIECES.filter((piece) => piece !== '')).map((piece) => piece.repeat(3_000).slice(0, 8_000)),
);

/** Nothing of ours takes longer, by far: a busy machine does not matter, a time that explodes does. */
export const MOST_MS = 2_000;

// FUZZ_TIMES=100 npx vitest run test/fuzz: for a night.
const TIMES = Number(process.env.FUZZ_TIMES ?? 1);

/** @returns how many cases to try; fast-check prints the seed of one that fails */
export function cases(count: number): { numRuns: number } {
  return { numRuns: count * TIMES };
}

/** Runs it and fails when it takes far too long: a hang would be no failure of the property, but of the test. */
export function inTime<T>(run: () => T): T {
  const startedMs = performance.now();
  const result = run();
  const tookMs = performance.now() - startedMs;
  if (tookMs > MOST_MS) throw new Error(`It took ${Math.round(tookMs)} ms`);
  return result;
}
