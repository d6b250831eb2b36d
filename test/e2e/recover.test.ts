import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runPaths } from '../../src/storage/runs.ts';
import { emptyFolder, run } from '../cli/run-millrace.ts';
import { slowServer } from '../cli/slow-server.ts';

const COUNT = 2_000;
const PAGE_BYTES = 4_096;

function damage(file: string, share: number): void {
  const at = PAGE_BYTES * Math.floor((statSync(file).size * share) / PAGE_BYTES);
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0xcd), 0, PAGE_BYTES, at);
  closeSync(descriptor);
}

test('a damaged run stops with the command that recovers it, and the recovered one ends with every record once', async () => {
  const cwd = emptyFolder();
  const server = await slowServer(0);
  const urls = Array.from({ length: COUNT }, (_, index) => `${server.url}/items/${index}\n`);
  writeFileSync(join(cwd, 'urls.txt'), urls.join(''));
  const crawl = ['urls.txt', '--no-discovery', '--ignore-robots', '--quiet', '--json'];
  expect((await run([...crawl, '--run', 'nightly'], { cwd })).code).toBe(0);
  const { database } = runPaths(join(cwd, 'storage'), 'nightly');
  for (let share = 0.3; share < 1; share += 0.05) damage(database, share);

  const refused = await run(['export', '--run', 'nightly', '--output', 'out.jsonl'], { cwd });
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is damaged') });
  expect(refused.stderr).toContain('millrace recover --run NAME --to NEW-NAME');

  const recovered = await run(['recover', '--run', 'nightly', '--to', 'mended'], { cwd });
  expect(recovered).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Run "mended" holds what could be read'),
  });
  expect(recovered.stdout).toMatch(/with gaps in \d+ places?/);
  const again = await run(['recover', '--run', 'nightly', '--to', 'mended'], { cwd });
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('There is a run "mended" already') });

  const resumed = await run([...crawl, '--run', 'mended', '--output', 'out.jsonl'], { cwd });
  expect(resumed.code).toBe(0);
  expect(JSON.parse(resumed.stdout)).toMatchObject({ state: 'finished', requests: { succeeded: COUNT, pending: 0 } });
});
