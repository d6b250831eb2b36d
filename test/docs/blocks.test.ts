import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { inputSchema } from '../../src/config/input-schema.ts';
import { type Block, blocksOf, isShell, pages, parseBlocks, reasonNotRun } from './support/blocks.ts';

const KNOWN = new Set(['sh', 'text', 'yaml', 'json', 'ts', 'py', 'sql', 'toml', 'csv', 'ini']);
// What begins a line that somebody might type.
const COMMAND = /^\s*(\$ )?(millrace|npx|npm|node|docker|curl|git|psql|systemctl|sqlite3|pip|python3?) /m;
const all = pages().flatMap(blocksOf);
const placeOf = ({ page, line }: Block): string => `${page}:${line}`;

describe('every block of README and docs', () => {
  test('says what it is', () => {
    const unmarked = all.filter(({ info }) => !KNOWN.has(info.split(' ', 1)[0] ?? ''));
    expect(unmarked.map(placeOf)).toEqual([]);
  });

  test('of commands is run, or says why not', () => {
    const wrong = all.filter((block) => isShell(block) && block.info !== 'sh' && reasonNotRun(block) === null);
    expect(wrong.map(placeOf)).toEqual([]);
  });

  test('that is not marked as commands has none', () => {
    const hidden = all.filter((block) => block.info === 'text' && COMMAND.test(block.text));
    expect(hidden.map(placeOf)).toEqual([]);
  });

  test('of YAML can be read, and is a valid input document where it is not marked as a part of one', () => {
    const problems = all
      .filter(({ info }) => info === 'yaml' || info.startsWith('yaml '))
      .flatMap((block) => problemsOf(block).map((problem) => `${placeOf(block)}: ${problem}`));
    expect(problems).toEqual([]);
  });
});

test('a block without an end is an error', () => {
  expect(() => parseBlocks('x.md', 'text\n```sh\nnpm start\n')).toThrow('x.md:2: a block is not closed');
});

test('a reason not to run is more than a word', () => {
  const block = (info: string): Block => ({ page: 'x.md', line: 1, info, text: '' });
  expect(reasonNotRun(block('sh not run: it takes a Docker daemon'))).toBe('it takes a Docker daemon');
  expect([block('sh'), block('sh not run'), block('sh not run: no'), block('sh skip')].map(reasonNotRun)).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

function problemsOf({ info, text }: Block): string[] {
  let document: unknown;
  try {
    document = parse(text);
  } catch (error) {
    return [String(error)];
  }
  if (info === 'yaml part') return [];
  const { error } = inputSchema.safeParse(document);
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}
