import { expect, test } from 'vitest';
import { findMessages } from '../../scripts/docs/find-messages.ts';

const messages = findMessages();
const texts = messages.map(({ text }) => text);

test('messages are found where errors are made, where the log is written, and where problems are listed', () => {
  expect(texts).toEqual(
    expect.arrayContaining([
      'There is nothing to crawl: give a URL, a file, - for stdin or --input FILE, or put the input document at ….',
      'All URLs were skipped: robots.txt forbids them. If you may fetch them all the same: --ignore-robots.',
      '--no-export and --output: give one of them.',
    ]),
  );
});

test('they are found where another function of the file words them', () => {
  expect(texts).toContain(
    '--ui: port … of … is taken by another program. Give another one, or none: --ui alone takes a free one.',
  );
});

test('neither help texts nor pages are taken for messages', () => {
  expect(texts).not.toContain('Start anew; the run there is becomes <name>.previous');
  expect(messages.filter(({ file }) => file.startsWith('report/html/'))).toEqual([]);
});

test('what is told of a wrong word on the command line says what to do: it ends as a sentence does', () => {
  const typed = messages.filter(({ file, text }) => file.startsWith('cli/') && /^(--|Give|There is|…)/.test(text));
  expect(typed.length).toBeGreaterThan(30);
  expect(typed.filter(({ text }) => !/[.?…]$/.test(text))).toEqual([]);
});
