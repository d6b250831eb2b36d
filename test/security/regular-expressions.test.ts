import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';

vi.setConfig({ testTimeout: 300_000 });

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));
// After these a slash begins a pattern, not a division.
const LITERAL =
  /(?:[(,=:!&|?{};[]|return|=>)\s*\/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n*])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])*)\/([dgimsuvy]*)/g;

type Pattern = { where: string; source: string; flags: string };

/** Every regular expression that stands in our sources. */
function patterns(): Pattern[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) => {
    const text = readFileSync(join(SOURCES, file), 'utf8').replaceAll(/^\s*(\/\/|\*|\/\*\*).*$/gm, '');
    return [...text.matchAll(LITERAL)].flatMap(([, source = '', flags = '']) =>
      isPattern(source, flags) ? [{ where: file, source, flags }] : [],
    );
  });
}

function isPattern(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags).source !== '';
  } catch {
    return false;
  }
}

/** What a pattern may try in ever more ways: its own letters and what it names, over and over, then something it does not want. */
function attacks({ source }: Pattern): string[] {
  const literal = [...new Set(source.replaceAll(/\\[dwsbDWSBnrtpu]|[()[\]{}*+?|^$.\\]/g, ' '))].slice(0, 12);
  const pieces = ['a', '0', ' ', '\t', '-', '.', ',', '"', '=', 'a ', '0.', 'a=', '";', '  ,', ...literal];
  const starts = ['', '"', 'a', '0', 'http://'];
  return pieces.flatMap((piece) =>
    starts.map((start) => `${start}${piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH)}\u0000`),
  );
}

const LENGTH = 8_000;
// 8,000 characters, read in one go, take some microseconds; in ways that double with each, for ever.
const MOST_MS = 1_000;

test('no pattern of ours takes long for any text', () => {
  const all = patterns();
  expect(all.length).toBeGreaterThan(100);
  const slow = all.filter((pattern) => {
    const regExp = new RegExp(pattern.source, pattern.flags.replace('y', ''));
    return attacks(pattern).some((text) => {
      const startedMs = performance.now();
      regExp.lastIndex = 0;
      regExp.exec(text);
      return performance.now() - startedMs > MOST_MS;
    });
  });
  expect(slow.map(({ where, source }) => `${where}: ${source}`)).toEqual([]);
});

test('a pattern that backtracks without end would be found', () => {
  const bad = { where: '', source: '^(a+)+$', flags: '' };
  expect(isPattern(bad.source, bad.flags)).toBe(true);
  const short = attacks(bad).map((text) => `${text.slice(0, 24)}\u0000`);
  const times = short.map((text) => {
    const startedMs = performance.now();
    new RegExp(bad.source).exec(text);
    return performance.now() - startedMs;
  });
  // 24 letters take as long already as a sound pattern takes for millions.
  expect(Math.max(...times)).toBeGreaterThan(20);
});
