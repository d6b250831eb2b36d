import { describe, expect, test } from 'vitest';
import type { KeySnapshot } from '../../src/core/key-snapshot.ts';
import { noTime, type Timings } from '../../src/core/timings.ts';
import { OTHER_HOSTS } from '../../src/report/failure-groups.ts';
import type { Attempt } from '../../src/report/host-record.ts';
import { createRecorder, type Recorder, type RecorderState } from '../../src/report/recorder.ts';
import { buildSummary } from '../../src/report/summary.ts';
import { highestRps, Timeline } from '../../src/report/timeline.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

const HOST = 'api.example.com';

function attemptOf(changes: Partial<Omit<Attempt, 'timings'>> & { timings?: Partial<Timings> } = {}): Attempt {
  return {
    host: HOST,
    status: 200,
    failure: null,
    reused: true,
    httpVersion: '1.1',
    limited: false,
    ...changes,
    timings: { ...noTime(), ...changes.timings },
  };
}

function snapshotOf(changes: Partial<KeySnapshot> = {}): KeySnapshot {
  return {
    key: HOST,
    host: HOST,
    inFlight: 1,
    concurrency: 10,
    requestsPerSecond: null,
    limitRps: null,
    limitSource: null,
    parkedUntilMs: null,
    parkedReason: null,
    givenUp: null,
    rateLimited: 0,
    ...changes,
  };
}

function throughJson(state: RecorderState): RecorderState {
  return JSON.parse(JSON.stringify(state));
}

function started(): { clock: FakeClock; recorder: Recorder } {
  const clock = new FakeClock();
  return { clock, recorder: createRecorder({ ports: { clock }, run: 'test' }) };
}

test('adds up phases, statuses and failures by host', async () => {
  const { recorder } = started();
  recorder.attempt(attemptOf({ timings: { firstByte: 20, download: 2, politeness: 5 } }));
  recorder.attempt(attemptOf({ status: 503, timings: { firstByte: 1 } }));
  recorder.attempt(attemptOf({ status: null, failure: 'TIMEOUT_CONNECT', httpVersion: null, reused: false }));
  recorder.time(HOST, 'commit', 3);
  recorder.retried(HOST);
  recorder.handled({ host: HOST, result: 'succeeded', code: null, url: `https://${HOST}/1` });
  recorder.handled({ host: HOST, result: 'failed', code: 'HTTP_503', url: `https://${HOST}/2?api_key=s3cret` });
  const record = recorder.toState().hosts[HOST];
  expect(record).toMatchObject({ attempts: 3, succeeded: 1, failed: 1, retries: 1, reused: 2, http1: 2, http2: 0 });
  expect(record?.statuses).toEqual({ 200: 1, 503: 1 });
  expect(record?.networkFailures).toEqual({ TIMEOUT_CONNECT: 1 });
  expect(record?.timeMs).toEqual([5, 0, 0, 0, 0, 21, 2, 0, 0, 3]);
  expect(recorder.toState().failures).toEqual([
    { code: 'HTTP_503', host: HOST, count: 1, example: `https://${HOST}/2?api_key=[redacted]` },
  ]);
});

test('latency is that of answers: rejections, server errors and failures do not count', async () => {
  const { recorder } = started();
  recorder.attempt(attemptOf({ timings: { connect: 30, firstByte: 50, download: 20 }, reused: false }));
  recorder.attempt(attemptOf({ timings: { firstByte: 40, download: 10 } }));
  recorder.attempt(attemptOf({ status: 429, limited: true, timings: { firstByte: 1 } }));
  recorder.attempt(attemptOf({ status: 503, limited: true, timings: { firstByte: 1 } }));
  recorder.attempt(attemptOf({ status: 500, timings: { firstByte: 1 } }));
  const record = recorder.hosts().get(HOST);
  expect(record?.latency.count).toBe(2);
  expect(record?.latency.max).toBe(100);
  expect(record?.reusedBase.sum).toBe(50);
  expect(record?.freshBase.sum).toBe(70);
  expect(record?.leastConnectMs).toBe(30);
});

test('a run that goes on in another process is reported as one, the time in between left out', async () => {
  const { clock, recorder } = started();
  recorder.attempt(attemptOf({ timings: { firstByte: 20 } }));
  recorder.handled({ host: HOST, result: 'failed', code: 'HTTP_404', url: 'https://x/1' });
  recorder.event({ atMs: clock.wallMs(), kind: 'parked', host: HOST, reason: 'asked to wait' });
  await clock.advance(5_000);
  recorder.tick({ snapshots: [snapshotOf()], maxConcurrency: 100, connections: connections(4) });
  const saved = throughJson(recorder.toState());
  expect(saved.activeMs).toBe(5_000);

  await clock.advance(3_600_000);
  const again = createRecorder({ ports: { clock }, run: 'test', state: saved });
  expect(throughJson(again.toState()).hosts).toEqual(saved.hosts);
  again.attempt(attemptOf({ timings: { firstByte: 30 } }));
  again.handled({ host: HOST, result: 'failed', code: 'HTTP_404', url: 'https://x/2' });
  await clock.advance(1_000);
  again.tick({ snapshots: [snapshotOf()], maxConcurrency: 100, connections: connections(2) });
  const state = throughJson(again.toState());
  expect(state.activeMs).toBe(6_000);
  expect(state.startedAtMs).toBe(saved.startedAtMs);
  expect(state.sessions.map(({ offsetMs }) => offsetMs)).toEqual([0, 5_000]);
  expect(state.hosts[HOST]).toMatchObject({ attempts: 2, failed: 2, workMs: 6_000 });
  expect(state.failures).toEqual([{ code: 'HTTP_404', host: HOST, count: 2, example: 'https://x/1' }]);
  expect(state.connections).toEqual({ opened: 6, requests: 6, http2Requests: 0, waiting: 0 });
  expect(state.events.events).toMatchObject([{ kind: 'parked', offsetMs: 0 }]);
});

function connections(count: number) {
  return { opened: count, requests: count, http2Requests: 0, waiting: 0 };
}

test('after the end of the crawl its time stands still, so that whoever asks later is told the same', async () => {
  const { clock, recorder } = started();
  await clock.advance(5_000);
  recorder.end();
  await clock.advance(2_000);
  expect(recorder.activeMs()).toBe(5_000);
  recorder.end();
  expect(recorder.toState().activeMs).toBe(5_000);
});

test('a state of another version is not used', async () => {
  const clock = new FakeClock();
  const state = {
    ...createRecorder({ ports: { clock }, run: 'old' }).toState(),
    version: 0,
  } as unknown as RecorderState;
  expect(createRecorder({ ports: { clock }, run: 'new', state }).toState().run).toBe('new');
});

test('slots are weighed by time, against the lower of the hosts’ and the crawl’s ceiling', async () => {
  const { clock, recorder } = started();
  await clock.advance(1_000);
  recorder.tick({ snapshots: [snapshotOf({ inFlight: 10, concurrency: 10 })], maxConcurrency: 100 });
  await clock.advance(3_000);
  recorder.tick({ snapshots: [snapshotOf({ inFlight: 2, concurrency: 10 })], maxConcurrency: 8 });
  // Nothing to do: does not count.
  await clock.advance(9_000);
  recorder.tick({ snapshots: [snapshotOf({ inFlight: 0 })], maxConcurrency: 8 });
  expect(recorder.toState().slots).toEqual({ weighedMs: 4_000, usedMs: 1_000 + 3_000 * (2 / 8) });
});

test('a host has work while it has requests in flight, waiting, or parked', async () => {
  const { clock, recorder } = started();
  const tickWith = async (changes: Partial<KeySnapshot>, pending: { host: string; pending: number }[] = []) => {
    await clock.advance(1_000);
    recorder.tick({ snapshots: [snapshotOf({ inFlight: 0, ...changes })], maxConcurrency: 10, pending });
  };
  await tickWith({ inFlight: 1 });
  await tickWith({});
  await tickWith({}, [{ host: HOST, pending: 3 }]);
  await tickWith({ parkedUntilMs: clock.wallMs() + 10_000 });
  recorder.attempt(attemptOf());
  await tickWith({});
  await tickWith({}, [{ host: HOST, pending: 0 }]);
  expect(recorder.toState().hosts[HOST]?.workMs).toBe(4_000);
});

test('memory is bounded: beyond 2,000 hosts the smallest are folded into one, and nothing is lost', async () => {
  const { recorder } = started();
  for (let host = 0; host < 10_000; host++) {
    const name = `h${host}.example.com`;
    recorder.attempt(attemptOf({ host: name, timings: { firstByte: 10 } }));
    recorder.attempt(attemptOf({ timings: { firstByte: 10 } }));
    recorder.handled({ host: name, result: 'failed', code: `CODE_${host % 7}`, url: `https://${name}/` });
  }
  const state = recorder.toState();
  const hosts = Object.entries(state.hosts);
  expect(hosts.length).toBeLessThanOrEqual(2_000);
  expect(state.hosts[HOST]?.attempts).toBe(10_000);
  expect(hosts.reduce((sum, [, record]) => sum + record.attempts, 0)).toBe(20_000);
  expect(hosts.reduce((sum, [, record]) => sum + record.failed, 0)).toBe(10_000);
  expect(state.hosts[OTHER_HOSTS]?.latency.counts.length).toBeGreaterThan(0);
  expect(state.failures.length).toBeLessThanOrEqual(507);
  expect(state.failures.reduce((sum, { count }) => sum + count, 0)).toBe(10_000);
});

test('memory is bounded: a month of events and time', async () => {
  const { clock, recorder } = started();
  recorder.event({ atMs: 0, kind: 'robots', host: HOST, reason: 'read once' });
  for (let hour = 0; hour < 720; hour++) {
    for (let index = 0; index < 20; index++)
      recorder.event({ atMs: clock.wallMs(), kind: 'limit-changed', host: HOST, reason: `${index}` });
    recorder.attempt(attemptOf({ timings: { firstByte: hour } }));
    recorder.tick({ snapshots: [snapshotOf({ limitRps: hour })], maxConcurrency: 10 });
    await clock.advance(3_600_000);
  }
  const state = recorder.toState();
  expect(state.events.events.length).toBeLessThan(800);
  expect(state.events.events[0]?.kind).toBe('robots');
  expect(state.events.counts).toEqual({ robots: 1, 'limit-changed': 14_400 });
  expect(state.timeline.length).toBeLessThanOrEqual(240);
  expect(state.timeline.counts.attempts.reduce((sum, count) => sum + count, 0)).toBe(720);
  expect(JSON.stringify(state).length).toBeLessThan(250_000);
});

test('the timeline gives rates, percentiles and limits by time, and coarsens without losing a request', async () => {
  const timeline = new Timeline();
  for (let second = 0; second < 300; second++) {
    for (let index = 0; index < 10; index++) timeline.attempt(second * 1_000, HOST);
    timeline.latency(second * 1_000, second < 200 ? 10 : 100);
  }
  timeline.limits(100_000, new Map([[HOST, { ...limits, limitRps: 12 }]]));
  const points = timeline.points(300_000);
  expect(timeline.widthMs).toBe(2_000);
  expect(points).toHaveLength(150);
  expect(points.every(({ rates }) => rates.attempts === 10)).toBe(true);
  expect(points[3]?.atSecs).toBe(6);
  expect(points[99]?.latencyMs.p50).toBeCloseTo(10, 0);
  expect(points[120]?.latencyMs.p99).toBeCloseTo(100, -1);
  const series = timeline.hostSeries(300_000)[HOST];
  expect(series?.rps[0]).toBe(10);
  expect([series?.limitRps[49], series?.limitRps[50], series?.limitRps[149]]).toEqual([null, 12, 12]);
});

const limits = {
  inFlight: 0,
  concurrency: 1,
  limitRps: null,
  limitSource: null,
  parkedUntilMs: null,
  givenUp: null,
  rateLimited: 0,
};

test('the highest rate of a host is that of its fullest bucket, a short last one not made more of', async () => {
  const timeline = new Timeline();
  for (const [second, count] of [3, 40, 12].entries())
    for (let index = 0; index < count; index++) timeline.attempt(second * 1_000, HOST);
  timeline.attempt(0, 'other.example.com');
  expect(highestRps(timeline.toState(), HOST)).toBe(40);
  expect(highestRps(timeline.toState(), 'other.example.com')).toBe(1);
  expect(highestRps(timeline.toState(), 'none.example.com')).toBe(0);
});

test('a bucket that has only just begun does not show a wild rate', async () => {
  const timeline = new Timeline();
  timeline.attempt(1_000, HOST);
  expect(timeline.points(1_001)[1]?.rates.attempts).toBe(10);
});

test('the summary has every field of the design, from exact counts of the store and what was recorded', async () => {
  const { clock, recorder } = started();
  for (let index = 0; index < 99; index++) recorder.attempt(attemptOf({ timings: { firstByte: 90, download: 10 } }));
  recorder.attempt(
    attemptOf({
      status: 304,
      timings: { connect: 40, tls: 40, firstByte: 90, download: 10 },
      reused: false,
      httpVersion: '2',
    }),
  );
  for (let index = 0; index < 98; index++)
    recorder.handled({ host: HOST, result: 'succeeded', code: null, url: 'https://x/' });
  recorder.handled({ host: HOST, result: 'failed', code: 'HTTP_404', url: 'https://x/gone' });
  recorder.handled({ host: HOST, result: 'skipped', code: 'robots', url: 'https://x/private' });
  await clock.advance(2_000);
  recorder.tick({ snapshots: [snapshotOf({ inFlight: 5 })], maxConcurrency: 100, connections: connections(1) });
  const summary = buildSummary({
    recorder: throughJson(recorder.toState()),
    state: 'finished',
    queue: { total: 100, succeeded: 98, failed: 1, skipped: 1, pending: 0 },
    datasets: [
      { name: 'default', count: 120 },
      { name: 'invalid', count: 3 },
    ],
    snapshots: [snapshotOf({ limitRps: 60, limitSource: 'stated', parkedUntilMs: 0 })],
    maxConcurrency: 100,
    hostConcurrency: () => 10,
    exports: ['a.csv'],
  });
  expect(summary).toEqual({
    run: 'test',
    state: 'finished',
    startedAt: new Date(recorder.toState().startedAtMs).toISOString(),
    durationSecs: 2,
    input: { lines: 0, malformed: 0, duplicates: 0 },
    requests: { total: 100, succeeded: 98, failed: 1, skipped: 1, pending: 0, retries: 0, notModified: 1 },
    skipped: { robots: 1 },
    failures: [{ code: 'HTTP_404', host: HOST, count: 1, example: 'https://x/gone', advice: expect.any(String) }],
    records: { default: 120, invalid: 3 },
    invalid: 3,
    requestsPerSecond: 49.5,
    statusCodes: { 200: 99, 304: 1 },
    latencyMs: { p50: expect.closeTo(100, 0), p95: expect.closeTo(100, 0), p99: expect.closeTo(100, 0), mean: 100.8 },
    timeMs: {
      politeness: 0,
      queue: 0,
      dns: 0,
      connect: 40,
      tls: 40,
      firstByte: 9_000,
      download: 1_000,
      parse: 0,
      handler: 0,
      commit: 0,
    },
    connections: { opened: 1, requests: 1, reusePercent: 99, http2Percent: 1, waiting: 0 },
    hosts: {
      [HOST]: {
        requests: 100,
        succeeded: 98,
        failed: 1,
        rateLimited: 0,
        limitRps: 60,
        limitSource: 'stated',
        concurrency: 10,
        latencyMs: expect.any(Object),
        baseLatencyMs: 100,
        roundTripMs: 40,
        httpVersion: '1.1',
        parkedUntil: '1970-01-01T00:00:00.000Z',
        givenUp: null,
      },
    },
    theoreticalRps: 60,
    achievedShare: 0.825,
    slotUtilisation: 0.5,
    completeness: null,
    drift: null,
    workers: null,
    diagnosis: null,
    exports: ['a.csv'],
  });
});

describe('a summary whose store counts more than was recorded, as after a kill', () => {
  const summaryWith = (recorder: Recorder, queue: { succeeded: number; failed: number; skipped: number }) =>
    buildSummary({
      recorder: recorder.toState(),
      state: 'interrupted',
      queue: { total: 1_000, pending: 0, ...queue },
      datasets: [],
      snapshots: [],
      maxConcurrency: 100,
      hostConcurrency: () => 50,
    });
  const record = (recorder: Recorder, result: 'succeeded' | 'failed' | 'skipped', count: number) => {
    for (let index = 0; index < count; index++)
      recorder.handled({ host: HOST, result, code: 'HTTP_404', url: 'https://x/' });
  };

  test('tells how many requests its figures leave out', async () => {
    const { clock, recorder } = started();
    record(recorder, 'succeeded', 563);
    record(recorder, 'failed', 2);
    await clock.advance(1_000);
    const summary = summaryWith(recorder, { succeeded: 600, failed: 4, skipped: 2 });
    expect(summary.unrecorded).toBe(37 + 2);
    expect(summary.requestsPerSecond).toBe(565);
  });

  test('leaves out none where failures have been mended since', () => {
    const { recorder } = started();
    record(recorder, 'failed', 5);
    record(recorder, 'succeeded', 5);
    expect(summaryWith(recorder, { succeeded: 5, failed: 0, skipped: 0 })).not.toHaveProperty('unrecorded');
  });

  test('has no rate where nothing was recorded', async () => {
    const { clock, recorder } = started();
    await clock.advance(1_000);
    const summary = summaryWith(recorder, { succeeded: 600, failed: 0, skipped: 0 });
    expect(summary).toMatchObject({ unrecorded: 600, requestsPerSecond: null, achievedShare: null });
  });
});

test('a summary of nothing has null where nothing is known', async () => {
  const { recorder } = started();
  const summary = buildSummary({
    recorder: recorder.toState(),
    state: 'interrupted',
    queue: { total: 0, succeeded: 0, failed: 0, skipped: 0, pending: 0 },
    datasets: [],
    snapshots: [],
    maxConcurrency: 100,
    hostConcurrency: () => 50,
  });
  expect(summary).toMatchObject({
    requestsPerSecond: null,
    latencyMs: { p50: null, p95: null, p99: null, mean: null },
    connections: { opened: 0, requests: 0, reusePercent: null, http2Percent: null, waiting: 0 },
    theoreticalRps: null,
    achievedShare: null,
    slotUtilisation: null,
  });
});
