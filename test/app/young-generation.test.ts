import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { boundYoungGeneration } from '../../src/app/young-generation.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

test('lets it grow to 16 MB, and looks no more after that', async () => {
  const clock = new FakeClock();
  let bytes = 2 ** 20;
  let looks = 0;
  let stops = 0;
  const look = (): number => {
    looks += 1;
    return bytes;
  };
  boundYoungGeneration(clock, { bytes: look, stopGrowing: () => stops++ });
  await clock.advance(200);
  expect([looks, stops]).toEqual([5, 0]);
  bytes = 16 * 2 ** 20;
  await clock.advance(50);
  expect([looks, stops]).toEqual([6, 1]);
  await clock.advance(1_000);
  expect([looks, stops]).toEqual([6, 1]);
});

test('V8 heeds it: what would fill over 100 MB stays below 40', () => {
  const program = `
    const { boundYoungGeneration } = await import('./src/app/young-generation.ts');
    const { systemClock } = await import('./src/core/clock.ts');
    if (process.argv[1] === 'bound') boundYoungGeneration(systemClock);
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
