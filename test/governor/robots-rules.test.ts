import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalPath } from '../../src/governor/robots/canonical-path.ts';
import { parseCrawlDelay, parseRobots } from '../../src/governor/robots/parse-robots.ts';
import { compilePattern, matchesPath } from '../../src/governor/robots/path-pattern.ts';
import { rulesFor } from '../../src/governor/robots/robots-rules.ts';
import { VECTORS } from './robots-vectors.ts';

const cases = VECTORS.flatMap(({ about, robots, agent = 'otter', allowed = [], forbidden = [] }) => [
  ...allowed.map((path) => ({ about, robots, agent, path, isAllowed: true })),
  ...forbidden.map((path) => ({ about, robots, agent, path, isAllowed: false })),
]);

describe('what a robots.txt means', () => {
  test('is told by a table of a size that leaves no doubt', () => {
    expect(VECTORS.length).toBeGreaterThan(100);
    expect(cases.length).toBeGreaterThan(250);
  });

  test.each(cases)('$about: $agent, $path, allowed: $isAllowed', ({ robots, agent, path, isAllowed }) => {
    expect(rulesFor(robots, agent).forbiddingLine(path) === null).toBe(isAllowed);
  });
});

describe('the rule that forbids a URL', () => {
  test('is told as it stands in the file, without its comment', () => {
    const rules = rulesFor('User-agent: *\n  Disallow :  /pond/*.json  # private\nDisallow: /a', 'otter');
    expect(rules.forbiddingLine('/pond/deep.json')).toBe('Disallow :  /pond/*.json');
    expect(rules.forbiddingLine('/ab')).toBe('Disallow: /a');
    expect(rules.forbiddingLine('/')).toBeNull();
  });

  test('is the one that decides, not the first that matches', () => {
    const rules = rulesFor('User-agent: *\nDisallow: /\nDisallow: /a\nDisallow: /*/b/c', 'otter');
    expect(rules.forbiddingLine('/a/b/c')).toBe('Disallow: /*/b/c');
    expect(rules.forbiddingLine('/a/b')).toBe('Disallow: /a');
  });
});

describe('a Crawl-delay', () => {
  test.each<[string, number | undefined]>([
    ['5', 5_000],
    ['0', 0],
    ['0.25', 250],
    ['2,5', 2_500],
    ['.5', 500],
    ['1.', 1_000],
    ['10s', 10_000],
    ['10 seconds', 10_000],
    ['300', 300_000],
    ['301', 300_000],
    ['99999999999999999999', 300_000],
    ['-3', undefined],
    ['', undefined],
    ['soon', undefined],
    ['1e3', undefined],
    ['1.2.3', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    ['5 minutes', undefined],
  ])('of "%s" is %s ms', (value, delayMs) => {
    expect(parseCrawlDelay(value)).toBe(delayMs);
  });

  const delayFor = (robots: string, agent = 'otter') => rulesFor(robots, agent).crawlDelayMs;

  test('holds for those named above it, not for those that join the group below', () => {
    const robots = 'User-agent: heron\nCrawl-delay: 10\nUser-agent: *\nDisallow: /x';
    expect(delayFor(robots, 'heron')).toBe(10_000);
    expect(delayFor(robots, 'otter')).toBe(0);
    expect(delayFor('User-agent: heron\nUser-agent: otter\nCrawl-delay: 3')).toBe(3_000);
  });

  test('may come before or after the rules, and is 0 when there is none', () => {
    expect(delayFor('User-agent: otter\nDisallow: /a\nCrawl-delay: 4\nDisallow: /b')).toBe(4_000);
    expect(delayFor('User-agent: otter\nDisallow: /a')).toBe(0);
    expect(delayFor('Crawl-delay: 4\nUser-agent: otter')).toBe(0);
  });

  test('of a named user agent replaces that of "*", and of several the longest holds', () => {
    expect(delayFor('User-agent: *\nCrawl-delay: 9\nUser-agent: otter\nDisallow: /a')).toBe(0);
    expect(delayFor('User-agent: *\nCrawl-delay: 9\nUser-agent: heron\nDisallow: /a')).toBe(9_000);
    const twice = 'User-agent: otter\nCrawl-delay: 2\nAllow: /\nUser-agent: otter\nCrawl-delay: 7\nAllow: /';
    expect(delayFor(twice)).toBe(7_000);
  });

  test('that makes no sense does not undo one that does', () => {
    expect(delayFor('User-agent: otter\nCrawl-delay: 5\nCrawl-delay: never')).toBe(5_000);
  });
});

describe('a long file', () => {
  const filler = `# ${'x'.repeat(97)}\n`;

  test('is read for 500 KiB, and the line that the limit cuts is left out', () => {
    const head = 'User-agent: otter\nDisallow: /first\n';
    const body = filler.repeat((500 * 1024 - head.length - 40) / filler.length);
    const room = 500 * 1024 - head.length - body.length;
    const within = `Disallow: /${'w'.repeat(room - 12)}\n`;
    const fits = rulesFor(`${head}${body}${within}Disallow: /beyond`, 'otter');
    expect(fits.forbiddingLine('/first')).not.toBeNull();
    expect(fits.forbiddingLine(`/${'w'.repeat(room - 12)}`)).not.toBeNull();
    expect(fits.forbiddingLine('/beyond')).toBeNull();
    const cut = rulesFor(`${head}${body}Disallow: /${'w'.repeat(room)}\n`, 'otter');
    expect(cut.count).toBe(1);
  });

  test('of one endless line says nothing', () => {
    expect(parseRobots(`User-agent: *${'x'.repeat(600 * 1024)}`).groups).toEqual([]);
  });

  test('of many rules is looked up without reading them all', () => {
    const rules = Array.from({ length: 20_000 }, (_, index) => `Disallow: /item/${index}/`);
    const { forbiddingLine, count } = bound(rulesFor(['User-agent: *', ...rules].join('\n'), 'otter'));
    expect(count).toBe(20_000);
    expect(forbiddingLine('/item/19999/x')).toBe('Disallow: /item/19999/');
    expect(forbiddingLine('/item/20000/x')).toBeNull();
  });

  test('made to be slow is not', () => {
    const pattern = `Disallow: /${'*a'.repeat(2_000)}b$`;
    const rules = rulesFor(['User-agent: *', ...Array(100).fill(pattern)].join('\n'), 'otter');
    // A matcher that backtracks would not end within the age of the universe.
    expect(rules.forbiddingLine(`/${'a'.repeat(8_000)}`)).toBeNull();
  });
});

describe('properties', () => {
  const alphabet = fc.constantFrom('/', 'a', 'b', '?', '%2F', '%61', 'é', '=', '[', '.');
  const path = fc.array(alphabet, { maxLength: 12 }).map((parts) => `/${parts.join('')}`);
  const patternOf = fc
    .array(fc.oneof(alphabet, fc.constant('*')), { maxLength: 10 })
    .map((parts) => `/${parts.join('')}`);

  test('the canonical form is stable', () => {
    fc.assert(
      fc.property(fc.oneof(path, fc.string(), fc.string({ unit: 'binary' })), (any) => {
        const once = canonicalPath(any);
        expect(once).toMatch(/^[\x21-\x7e]*$/);
        expect(canonicalPath(once)).toBe(once);
      }),
    );
  });

  test('a URL as the URL parser writes it has the canonical form of the one it was given', () => {
    fc.assert(
      fc.property(path, (any) => {
        const { pathname, search } = new URL(`https://a.example${any.replace(/^\/+/, '/')}`);
        fc.pre(!any.includes('//') && !any.includes('/.') && !any.endsWith('?'));
        expect(canonicalPath(pathname + search)).toBe(canonicalPath(any));
      }),
    );
  });

  test('a pattern matches what a regular expression of the same meaning matches', () => {
    fc.assert(
      fc.property(patternOf, fc.boolean(), path, (pattern, isAnchored, any) => {
        const compiled = compilePattern(isAnchored ? `${pattern}$` : pattern);
        const escaped = compiled.pieces.map((piece) => piece.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
        const expected = new RegExp(`^${escaped.join('.*')}${isAnchored ? '$' : ''}`, 's');
        const canonical = canonicalPath(any);
        expect(matchesPath(compiled, canonical)).toBe(expected.test(canonical));
      }),
      { numRuns: 2_000 },
    );
  });

  test('the decision is that of the plain definition: of all that match, the longest, then Allow', () => {
    const rule = fc.record({
      kind: fc.constantFrom('Allow', 'Disallow'),
      pattern: patternOf,
      end: fc.constantFrom('', '$'),
    });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 12 }), path, (rules, any) => {
        const lines = rules.map(({ kind, pattern, end }) => `${kind}: ${pattern}${end}`);
        const matching = rules
          .map(({ kind, pattern, end }) => ({ kind, compiled: compilePattern(pattern + end) }))
          .filter(({ compiled }) => matchesPath(compiled, canonicalPath(any)));
        const longest = Math.max(...matching.map(({ compiled }) => compiled.length));
        const winners = matching.filter(({ compiled }) => compiled.length === longest);
        const isForbidden = winners.length > 0 && winners.every(({ kind }) => kind === 'Disallow');
        const found = rulesFor(['User-agent: *', ...lines].join('\n'), 'otter').forbiddingLine(any);
        expect(found !== null).toBe(isForbidden);
      }),
      { numRuns: 2_000 },
    );
  });

  test('nothing makes the parser throw', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void rulesFor(text, 'otter').forbiddingLine(text)));
  });
});

function bound(rules: ReturnType<typeof rulesFor>) {
  return { count: rules.count, forbiddingLine: (path: string) => rules.forbiddingLine(path) };
}
