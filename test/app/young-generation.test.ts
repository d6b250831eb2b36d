import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { boundYoungGeneration } from '../../src/app/young-generation.ts';

test('lets it grow to 16 MB, and looks no more after that', () => {
  const listeners = new Set<() => void>();
  let bytes = 2 ** 20;
  let looks = 0;
  let stops = 0;
  const collect = (times: number): void => {
    for (let count = 0; count < times; count++) for (const listener of listeners) listener();
  };
  boundYoungGeneration({
    bytes: () => {
      looks += 1;
      return bytes;
    },
    stopGrowing: () => {
      stops += 1;
    },
    onCollected: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  });
  collect(5);
  expect([looks, stops]).toEqual([5, 0]);
  bytes = 16 * 2 ** 20;
  collect(1);
  expect([looks, stops]).toEqual([6, 1]);
  collect(20);
  expect([looks, stops]).toEqual([6, 1]);
});

test('V8 heeds it: what would fill over 100 MB stays below 40', () => {
  const program = `
    const { boundYoungGeneration } = await import('./src/app/young-generation.ts');
    if (process.argv[1] === 'bound') boundYoungGeneration();
    const { getHeapSpaceStatistics } = await import('node:v8');
    let kept = [];
    for (let turn = 0; turn < 400; turn++) {
      for (let index = 0; index < 50_000; index++) kept.push({ index });
      if (kept.length > 300_000) kept = [];
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    console.log(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20);`;
  const sizeOf = (how: string): number =>
    Number(
      execFileSync(process.execPath, ['--input-type=module', '-e', program, how], {
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    );
  expect(sizeOf('bound')).toBeLessThan(40);
  expect(sizeOf('free')).toBeGreaterThan(60);
});
