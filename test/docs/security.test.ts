import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ROOT } from './support/blocks.ts';

type Row = { promise: string; file: string; title: string };

const page = readFileSync(`${ROOT}docs/security.md`, 'utf8');
const rows = page.split('\n').flatMap((line): Row[] => {
  const [, promise, file, title] = /^\| (.*?) ?\| `(test\/[^`]+)`: (.+) \|$/.exec(line) ?? [];
  return file === undefined ? [] : [{ promise: promise ?? '', file, title: title ?? '' }];
});

describe('docs/security.md', () => {
  test('says of every promise which test shows it', () => {
    const lines = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Promise'));
    expect(rows).toHaveLength(lines.length);
    expect(rows.length).toBeGreaterThan(40);
    expect(rows[0]?.promise).not.toBe('');
  });

  test.each(rows)('$file has the test it names: $title', ({ file, title }) => {
    expect(existsSync(`${ROOT}${file}`)).toBe(true);
    const quoted = ["'", '"', '`'].map((quote) => `${quote}${title}${quote}`);
    const text = readFileSync(`${ROOT}${file}`, 'utf8');
    expect(quoted.some((literal) => text.includes(literal))).toBe(true);
  });

  test.each([
    ['credentials', /origin/],
    ['follow-up URLs', /followHosts/],
    ['private addresses', /blockPrivateAddresses/],
    ['TLS', /TLS certificates are verified/],
    ['bodies', /maxBodyBytes/],
    ['redirects', /Redirects are, at ten/],
    ['headers and URLs', /Headers are, at 64 KiB/],
    ['files', /A file is complete/],
  ])('has a line for %s', (_, pattern) => {
    expect(rows.some(({ promise }) => pattern.test(promise))).toBe(true);
  });
});
