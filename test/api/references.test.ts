import { describe, expect, test } from 'vitest';
import { resolveBaseUrl } from '../../src/api/compile-api.ts';
import { SecretVault } from '../../src/api/references.ts';

function vault() {
  const env: Record<string, string> = {
    TOKEN: 's3cret/to"ken',
    BASE: 'https://shop.test/api',
    SHORT: 'ab',
    SHOP: 'acme',
  };
  return new SecretVault({ env: (name) => env[name], file: (path) => (path === 'a b.txt' ? 'from-file' : undefined) });
}

describe('a reference', () => {
  test('is filled in, escaped for where it stands', () => {
    expect(vault().reveal('Bearer ${env:TOKEN} ${file:a b.txt}')).toBe('Bearer s3cret/to"ken from-file');
    expect(vault().revealJson('{"k":"${env:TOKEN}"}')).toBe('{"k":"s3cret/to\\"ken"}');
    expect(vault().revealUrl('https://a.test/${env:TOKEN}?k=${env:TOKEN}')).toBe(
      'https://a.test/s3cret/to%22ken?k=s3cret/to%22ken',
    );
  });

  test('survives what a URL parser makes of it', () => {
    const stored = new URL('https://a.test/bot${env:TOKEN}/x?f=${file:a b.txt}').href;
    expect(stored).not.toContain('{env');
    expect(vault().revealUrl(stored)).toBe('https://a.test/bots3cret/to%22ken/x?f=from-file');
  });

  test('that leads nowhere is named', () => {
    expect(() => vault().reveal('${env:NONE}')).toThrow('${env:NONE}: the environment variable NONE is not set');
    expect(() => vault().reveal('${file:none}')).toThrow('${file:none}: the file none cannot be read');
  });
});

describe('a secret', () => {
  test('is taken out again once it was used, as text and percent-encoded', () => {
    const own = vault();
    own.reveal('${env:TOKEN}');
    own.remember('<access token>', 'abcdefgh');
    expect(own.conceal('got s3cret/to"ken at ?k=s3cret%2Fto%22ken with abcdefgh')).toBe(
      'got ${env:TOKEN} at ?k=${env:TOKEN} with <access token>',
    );
  });

  test('of two letters is not looked for in every word', () => {
    const own = vault();
    own.reveal('${env:SHORT}');
    expect(own.conceal('about')).toBe('about');
  });
});

test.each([
  ['${env:BASE}', 'https://shop.test/api'],
  ['https://${env:SHOP}.test/x/${env:TOKEN}', 'https://acme.test/x/${env:TOKEN}'],
  ['https://a.test/bot${env:TOKEN}', 'https://a.test/bot${env:TOKEN}'],
])('of a base URL only the origin is filled in: %s', (baseUrl, expected) => {
  const own = vault();
  expect(resolveBaseUrl(baseUrl, own)).toBe(expected);
  expect(own.conceal('https://shop.test/api')).toBe('https://shop.test/api');
});
