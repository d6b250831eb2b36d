import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HttpError } from '../../src/http/http-error.ts';
import { parseTarget } from '../../src/http/target.ts';

test('agrees with the WHATWG parser, first time and from memory', () => {
  const urls = [
    'http://127.0.0.1:8080/a?b=1',
    'http://localhost',
    'https://EXAMPLE.com:443/%7Euser/%zz',
    'http://a.test:80/',
    'http://1.2.3/',
    'http://a.test/a/../b/./c',
    'http://a.test/a/%2e%2E/b',
    "http://a.test/it's?it's",
    'http://a.test/"<>`{}|^',
    'http://a.test\\b',
    'http://a.test/x#fragment',
    'http://a.test/é?ü=ö',
    'http://bücher.test/',
    'http://[::1]:3000/x',
    'HTTP://A.TEST/x',
    ' http://a.test/x ',
  ];
  for (const url of [...urls, ...urls]) {
    const { origin, pathname, search } = new URL(url);
    expect(parseTarget(url)).toEqual({ origin, path: pathname + search, authorization: null });
  }
});

test('agrees with the WHATWG parser whatever the path', () => {
  parseTarget('http://fuzz.test/');
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), (path) => {
      const url = `http://fuzz.test/${path}`;
      const { pathname, search } = new URL(url);
      expect(parseTarget(url).path).toBe(pathname + search);
    }),
  );
});

test('takes credentials out of the URL', () => {
  const { origin, authorization } = parseTarget('https://us%65r:p%3Ass@a.test/x');
  expect(origin).toBe('https://a.test');
  expect(authorization).toBe(`Basic ${Buffer.from('user:p:ss').toString('base64')}`);
  expect(parseTarget('https://a.test/x').authorization).toBeNull();
});

test.each(['', 'a.test/x', 'ftp://a.test', 'http://', 'http://256.0.0.1/', `http://a.test/${'x'.repeat(66_000)}`])(
  'refuses %.30s',
  (url) => {
    expect(() => parseTarget(url)).toThrow(HttpError);
  },
);
