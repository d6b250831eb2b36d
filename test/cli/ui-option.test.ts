import { expect, test } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.ts';
import { crawlJob } from '../../src/cli/crawl-job.ts';

const job = (argv: readonly string[]) => crawlJob(parseArguments('crawl', argv), { cwd: '/work dir', env: {} });

test.each([
  [['--ui'], { address: '127.0.0.1', port: 0 }],
  [['--ui', '4411'], { address: '127.0.0.1', port: 4411 }],
  [['--ui=4411'], { address: '127.0.0.1', port: 4411 }],
  [['--ui', '0.0.0.0:8080'], { address: '0.0.0.0', port: 8080 }],
  [['--ui', '[::1]:8080'], { address: '::1', port: 8080 }],
  [['--ui', '--quiet'], { address: '127.0.0.1', port: 0 }],
])('%j is a page at %j', async (argv, ui) => {
  expect((await job(['https://a.b/', ...argv])).ui).toEqual(ui);
});

test('what follows --ui and is no port is an input', async () => {
  const { ui, inputs } = await job(['--ui', 'http://a.b:8080', 'https://a.b/2']);
  expect(ui).toEqual({ address: '127.0.0.1', port: 0 });
  expect(inputs).toEqual([
    { kind: 'requests', name: 'the command line', requests: [{ url: 'http://a.b:8080' }, { url: 'https://a.b/2' }] },
  ]);
});

test('there is no page where none is asked for', async () => {
  expect(await job(['https://a.b/'])).not.toHaveProperty('ui');
});

test.each(['65536', 'x:65536', ':80'])('--ui %s is refused', async (value) => {
  await expect(job(['https://a.b/', `--ui=${value}`])).rejects.toThrow(/^--ui must be a whole number from 0 to 65535/);
});
