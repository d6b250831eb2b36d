import { expect, test } from 'vitest';
import { adviceFor, runCommand, shellWord } from '../../src/core/run-command.ts';

test('a command names its run and place as they were typed', () => {
  expect(runCommand('crawl', { run: 'default' })).toBe('millrace crawl --run default');
  expect(runCommand('crawl', { run: 'f8', typedPlace: ' --storage-dir data' })).toBe(
    'millrace crawl --run f8 --storage-dir data',
  );
});

test('advice stays as it is for the default run, and is the whole command for another', () => {
  const advice = 'Check the network, then run retry-failed. If it stays, wait.';
  expect(adviceFor({ run: 'default' }, advice)).toBe(advice);
  expect(adviceFor({ run: 'f8' }, advice)).toBe(
    'Check the network, then run `millrace retry-failed --run f8`. If it stays, wait.',
  );
  expect(adviceFor({ run: 'default', typedPlace: ' --storage-dir $&' }, advice)).toBe(
    'Check the network, then run `millrace retry-failed --run default --storage-dir $&`. If it stays, wait.',
  );
});

test.each([
  ['data/2026', 'data/2026'],
  ['my data', "'my data'"],
  ["it's", String.raw`'it'\''s'`],
  ['$HOME', "'$HOME'"],
])('%s is written as one word', (text, word) => {
  expect(shellWord(text)).toBe(word);
});
