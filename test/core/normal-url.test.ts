import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hostOf } from '../../src/core/host.ts';
import { isNormalUrl, normalHost } from '../../src/core/normal-url.ts';
import { normaliseUrl, uniqueKeyOf } from '../../src/core/unique-key.ts';

const RUNS = { numRuns: 20_000 };

function parsed(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null;
}

function hrefWithoutFragment(url: string): string | undefined {
  const whole = parsed(url);
  if (whole === null) return undefined;
  whole.hash = '';
  return whole.href;
}

// Pieces that URLs are made of, and those that parsers trip over; mostly plain ones, so that a good part of the URLs is
// normalised, or would be but for one piece.
function mostly<T>(plain: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ arbitrary: plain, weight: 6 }, { arbitrary: odd, weight: 1 });
}
const scheme = mostly(
  fc.constantFrom('http://', 'https://'),
  fc.constantFrom('HTTP://', 'ftp://', 'http:', 'https:/', '//'),
);
const label = mostly(
  fc.stringMatching(/^[a-z0-9_-]{1,8}$/),
  fc.constantFrom(
    'api',
    'xn--bcher-kva',
    'xn--',
    '0x7f',
    '1',
    '255',
    '256',
    '01',
    'Ü',
    'a b',
    '',
    '%61',
    'ﬀ',
    'A',
    '0',
  ),
);
const host = fc.oneof(
  fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.')),
  fc.ipV4(),
  fc.ipV6().map((address) => `[${address}]`),
  fc.domain(),
);
const port = mostly(
  fc.constantFrom('', '', ':8080'),
  fc.oneof(
    fc.constantFrom(':', ':80', ':443', ':080', ':0', ':65535', ':65536', ':99999', ':8080', ':1234567'),
    fc.integer({ min: 1, max: 70_000 }).map((number) => `:${number}`),
  ),
);
const piece = mostly(
  fc.stringMatching(/^[/][A-Za-z0-9._~!$&()*+,;=:@%-]{0,8}$/),
  fc.oneof(
    fc.stringMatching(/^[A-Za-z0-9._~!$&'()*+,;=:@%/?#|[\]\\^`{}"<> -]{0,8}$/),
    fc.constantFrom(
      '/',
      '/.',
      '/..',
      '/%2e',
      '/.%2E',
      '/%2E%2e/',
      '/a',
      '?',
      "?'",
      '#',
      '\t',
      '\n',
      'é',
      '\u007f',
      '%',
      '%zz',
      '/x.y',
    ),
  ),
);
const userinfo = mostly(fc.constant(''), fc.constantFrom('user@', 'user:password@', '@'));
const anyUrl = fc
  .tuple(scheme, userinfo, host, port, fc.array(piece, { maxLength: 6 }))
  .map(([start, user, name, number, rest]) => start + user + name + number + rest.join(''));

describe('isNormalUrl', () => {
  test('is true only of what the WHATWG parser leaves exactly as it is', () => {
    fc.assert(
      fc.property(anyUrl, (url) => {
        if (isNormalUrl(url)) expect(hrefWithoutFragment(url)).toBe(url);
      }),
      RUNS,
    );
  });

  test('is true of a good part of the URLs tried above, so that they prove something', () => {
    const urls = fc.sample(anyUrl, { numRuns: 5_000, seed: 1 });
    expect(urls.filter(isNormalUrl).length).toBeGreaterThan(500);
  });

  test('is true of what the parser has written, for URLs as they are common in APIs', () => {
    const urls = [
      'https://api.example.com/items/1',
      'http://127.0.0.1:3000/items?page=2&sort=name,asc',
      'https://a-b.c_d.example.org:8443/v2/users/~me/files/a%20b.json?fields=id;name&t=12:30',
      'http://localhost:8080/',
    ];
    for (const url of urls) {
      expect(new URL(url).href).toBe(url);
      expect(isNormalUrl(url), url).toBe(true);
    }
  });

  test.each([
    'http://1.2.3/',
    'http://0x7f.1/',
    'http://a.0x1/',
    'http://256.1.1.1/',
    'https://a.b:443/',
    'http://a.b:80/',
    'http://a.b:65536/',
    'http://a.b:08/',
    'https://A.b/',
    'https://a.b',
    'https://a.b/../c',
    'https://a.b/c/%2e%2E/d',
    'https://a.b/c#d',
    'https://a.b/c d',
    'https://u@a.b/',
    "https://a.b/?q='",
    'https://xn--a.b/',
    'https://b.xn--a/',
    'ftp://a.b/',
  ])('leaves %s to the parser', (url) => {
    expect(isNormalUrl(url)).toBe(false);
  });
});

describe('normalHost', () => {
  test('is the host the WHATWG parser finds, or null', () => {
    fc.assert(
      fc.property(anyUrl, (url) => {
        const found = normalHost(url);
        if (found !== null) expect(parsed(url)?.host).toBe(found);
      }),
      RUNS,
    );
  });

  test('an IPv4 address in another spelling has the host it is normalised to', () => {
    expect(hostOf('http://1.2.3/x')).toBe('1.2.0.3');
    expect(hostOf('http://0x7f.1/x')).toBe('127.0.0.1');
  });

  test('a default port is left out and another one kept', () => {
    expect(hostOf('https://a.b:443/x')).toBe('a.b');
    expect(hostOf('http://a.b:443/x')).toBe('a.b:443');
    expect(hostOf('https://a.b:8443?x')).toBe('a.b:8443');
  });
});

describe('normaliseUrl', () => {
  test('gives what the WHATWG parser writes, without the fragment, or throws where it throws', () => {
    fc.assert(
      fc.property(anyUrl, (url) => {
        const expected = hrefWithoutFragment(url);
        if (expected === undefined) expect(() => normaliseUrl(url)).toThrow(TypeError);
        else expect(normaliseUrl(url)).toBe(expected);
      }),
      RUNS,
    );
  });

  test('keeps the order and the names of the query, which Crawlee would change', () => {
    const url = 'https://a.b/c?z=1&a=2&utm_source=x';
    expect(uniqueKeyOf({ url })).toBe(url);
    expect(uniqueKeyOf({ url: `${url}#part` })).toBe(url);
  });
});
