import { expect, test } from 'vitest';
import { ClockWatch } from '../../../src/storage/sqlite/clock-watch.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

class SteppableClock extends FakeClock {
  stepMs = 0;
  override wallMs(): number {
    return super.wallMs() + this.stepMs;
  }
}

test('sees a step once, in both directions, and not the passing of time', async () => {
  const clock = new SteppableClock(1_000_000);
  const watch = new ClockWatch(clock);
  await clock.advance(3_600_000);
  expect(watch.look()).toEqual({ nowMs: 4_600_000, stepMs: 0 });
  clock.stepMs = -60_000;
  expect(watch.look()).toEqual({ nowMs: 4_540_000, stepMs: -60_000 });
  expect(watch.look().stepMs).toBe(0);
  clock.stepMs = 5_000;
  expect(watch.look().stepMs).toBe(65_000);
});

test('takes less than a second for slewing', () => {
  const clock = new SteppableClock();
  const watch = new ClockWatch(clock);
  clock.stepMs = 999;
  expect(watch.look().stepMs).toBe(0);
});
