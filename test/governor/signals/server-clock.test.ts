import { expect, test } from 'vitest';
import { ServerClock } from '../../../src/governor/signals/server-clock.ts';

/** Tue, 23 May 2023 10:00:00 GMT */
const SERVER_MS = Date.UTC(2023, 4, 23, 10);
const WRONG_WALL_MS = SERVER_MS - 3_600_000;

function dateAt(ms: number): string {
  return new Date(Math.floor(ms / 1000) * 1000).toUTCString();
}

test('takes our own clock while the server never tells the time', () => {
  expect(new ServerClock().read(undefined, { endedAtMs: 5, wallMs: WRONG_WALL_MS })).toBe(WRONG_WALL_MS);
});

test('takes the server’s clock, an hour ahead of ours, and keeps it through answers without a Date', () => {
  const clock = new ServerClock();
  expect(clock.read(dateAt(SERVER_MS), { endedAtMs: 0, wallMs: WRONG_WALL_MS })).toBe(SERVER_MS);
  expect(clock.read(undefined, { endedAtMs: 700, wallMs: WRONG_WALL_MS + 700 })).toBe(SERVER_MS + 700);
});

test('comes closer than a second, and never runs ahead of the server', () => {
  const clock = new ServerClock();
  let read = 0;
  for (let passedMs = 600; passedMs <= 3600; passedMs += 100) {
    const trueMs = SERVER_MS + passedMs;
    read = clock.read(dateAt(trueMs), { endedAtMs: passedMs + 20, wallMs: WRONG_WALL_MS });
    expect(read).toBeLessThanOrEqual(trueMs + 20);
  }
  expect(read).toBe(SERVER_MS + 3600);
});

test('machines behind one name that disagree are each taken at their word', () => {
  const clock = new ServerClock();
  clock.read(dateAt(SERVER_MS + 30_000), { endedAtMs: 0, wallMs: SERVER_MS });
  expect(clock.read(dateAt(SERVER_MS), { endedAtMs: 0, wallMs: SERVER_MS })).toBe(SERVER_MS + 1000);
});
