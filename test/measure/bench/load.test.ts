import { expect, test } from 'vitest';
import type { HttpResponse } from '../../../src/http/client.ts';
import { HttpError } from '../../../src/http/http-error.ts';
import { runClosed, runOpen } from '../../../src/measure/bench/load.ts';
import { Tally } from '../../../src/measure/bench/tally.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const ANSWER: HttpResponse = {
  status: 200,
  headers: {},
  body: Buffer.from('{}'),
  wireBytes: 20,
  httpVersion: '1.1',
  timings: { dns: 0, connect: 0, tls: 0, firstByte: 1, download: 0 },
  reusedConnection: true,
};

/** A server on a clock that moves only when told: `latencyMs` may depend on when the request came. */
function fixture(latencyMs: (atMs: number) => number) {
  const clock = new FakeClock();
  const tally = new Tally();
  const sentAtMs: number[] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  const send = async (): Promise<HttpResponse> => {
    sentAtMs.push(clock.nowMs());
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    await clock.sleep(latencyMs(clock.nowMs()));
    inFlight -= 1;
    return ANSWER;
  };
  const signal = new AbortController().signal;
  return { clock, tally, sentAtMs, send, signal, mostInFlight: () => mostInFlight };
}

test('a closed load keeps so many in flight, and sends so many', async () => {
  const { clock, tally, sentAtMs, send, signal, mostInFlight } = fixture(() => 50);
  const done = runClosed({ clock, tally, send, signal, count: 23, concurrency: 5 });
  await clock.advance(1_000);
  await done;
  expect([sentAtMs.length, mostInFlight(), tally.answers]).toEqual([23, 5, 23]);
  expect(sentAtMs.at(-1)).toBe(200);
  expect(tally.latency.percentile(0.5)).toBeCloseTo(50, 0);
});

test('an open load sends at its rate, whatever comes back', async () => {
  const { clock, tally, sentAtMs, send, signal, mostInFlight } = fixture(() => 500);
  const done = runOpen({ clock, tally, send, signal, count: 20, rate: 100 });
  await clock.advance(1_000);
  await done;
  expect(sentAtMs).toEqual(Array.from({ length: 20 }, (_, index) => index * 10));
  expect(mostInFlight()).toBe(20);
});

test('a server that stands still shows in all requests that were due meanwhile', async () => {
  // Within the first second every answer waits for its end: the n-th request of 100 waits 1,000 - 10 n ms.
  const stalled = fixture((atMs) => (atMs < 1_000 ? 1_000 - atMs : 1));
  const open = runOpen({ ...stalled, count: 200, rate: 100 });
  await stalled.clock.advance(3_000);
  await open;
  expect(stalled.tally.latency.percentile(0.75)).toBeGreaterThan(480);
  // One closed user sees the stall once, and 199 quick answers: coordinated omission.
  const closed = fixture((atMs) => (atMs < 1_000 ? 1_000 - atMs : 1));
  const load = runClosed({ ...closed, count: 200, concurrency: 1 });
  await closed.clock.advance(3_000);
  await load;
  expect(closed.tally.latency.percentile(0.99)).toBeLessThan(2);
});

test('latency counts from when a request was due, service from when it was sent', async () => {
  const { clock, tally, send, signal } = fixture(() => 10);
  // Our own process is held up: the clock jumps 300 ms at once.
  const late: typeof clock.sleep = async (delayMs) => {
    await clock.sleep(delayMs);
    if (clock.nowMs() === 10) await clock.sleep(300);
  };
  const busy = {
    nowMs: () => clock.nowMs(),
    wallMs: () => clock.wallMs(),
    sleep: late,
    schedule: clock.schedule.bind(clock),
  };
  const done = runOpen({ clock: busy, tally, send, signal, count: 3, rate: 100 });
  await clock.advance(1_000);
  await done;
  expect(tally.latency.max).toBe(310);
  expect(tally.service.max).toBe(10);
});

test('failures are counted by their code, refusals by their status', async () => {
  const { clock, tally, signal } = fixture(() => 0);
  let sent = 0;
  const send = async (): Promise<HttpResponse> => {
    sent += 1;
    if (sent % 2 === 0) throw new HttpError({ code: 'CONNECTION_RESET', message: 'reset', wasSent: true });
    return { ...ANSWER, status: 429 };
  };
  await runClosed({ clock, tally, send, signal, count: 10, concurrency: 2 });
  expect(Object.fromEntries(tally.statuses)).toEqual({ 429: 5 });
  expect(Object.fromEntries(tally.failures)).toEqual({ CONNECTION_RESET: 5 });
  expect(tally.wireBytes).toBe(100);
});

test('a load ends with the signal, and with what is no failure of a request', async () => {
  const { clock, tally, send } = fixture(() => 0);
  await expect(
    runClosed({ clock, tally, send, signal: AbortSignal.abort(new Error('enough')), count: 10, concurrency: 2 }),
  ).rejects.toThrow('enough');
  const broken = async (): Promise<HttpResponse> => {
    throw new TypeError('a bug');
  };
  const signal = new AbortController().signal;
  await expect(runOpen({ clock, tally, send: broken, signal, count: 1, rate: 1_000 })).rejects.toThrow('a bug');
});
