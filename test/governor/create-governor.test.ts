import { expect, test } from 'vitest';
import { EPOCH_MS, governed, KEY } from './harness.ts';

test('sends the first request alone', () => {
  const { ask } = governed();
  expect(ask()).toBe(0);
  expect(ask()).toBe(Number.POSITIVE_INFINITY);
});

test('with discovery off it sends at the configured concurrency at once', () => {
  const { ask } = governed({ discovery: 'off', maxConcurrency: 3 });
  expect([ask(), ask(), ask(), ask()]).toEqual([0, 0, 0, Number.POSITIVE_INFINITY]);
});

test('paces evenly at a configured rate, from the first request on', () => {
  const { ask, time } = governed({ requestsPerSecond: 5 });
  expect(ask()).toBe(0);
  expect(ask()).toBe(200);
  time.nowMs = 199.9;
  expect(ask()).toBe(200);
  time.nowMs = 200;
  expect(ask()).toBe(0);
});

test('paces all keys together by the requests allowed a minute', () => {
  const { ask, time } = governed({ discovery: 'off', governor: { maxRequestsPerMinute: 600 } });
  expect(ask('a.example')).toBe(0);
  expect(ask('b.example')).toBe(100);
  time.nowMs = 100;
  expect(ask('b.example')).toBe(0);
});

test('holds all keys together to the concurrency of the crawl', () => {
  const { ask, answer, time } = governed({ discovery: 'off', governor: { maxConcurrency: 2 } });
  expect([ask('a.example'), ask('b.example'), ask('c.example')]).toEqual([0, 0, Number.POSITIVE_INFINITY]);
  time.nowMs = 30;
  answer({ key: 'a.example' });
  expect(ask('c.example')).toBe(0);
});

test('a cancelled grant gives back its slot and its pace', () => {
  const { ask, governor, time } = governed({ requestsPerSecond: 5, maxConcurrency: 1 });
  expect(ask()).toBe(0);
  governor.cancel(KEY, time.nowMs);
  expect(ask()).toBe(0);
});

test('parks a key for as long as Retry-After says, then sends one request alone', () => {
  const { ask, roundTrip, time, snapshot } = governed({ discovery: 'off' });
  expect(roundTrip({ status: 429, headers: { 'retry-after': '5' } })).toBe('limited');
  expect(ask()).toBe(5030);
  expect(snapshot()?.parkedUntilMs).toBe(EPOCH_MS + 5030);
  expect(snapshot()?.parkedReason).toBe('status 429, told to wait 5 s');
  time.nowMs = 5029;
  expect(ask()).toBe(5030);
  time.nowMs = 5030;
  expect(ask()).toBe(0);
  expect(ask()).toBeGreaterThan(5030);
});

test('adds its jitter after the wait, never inside it', () => {
  const { ask, roundTrip } = governed({ discovery: 'off', governor: { random: () => 0.5 } });
  roundTrip({ status: 429, headers: { 'retry-after': '5' } });
  expect(ask()).toBe(5030 + 50);
});

test('a late refusal lengthens the wait but is no second cut', () => {
  const { ask, answer, time, events } = governed({ discovery: 'off' });
  ask();
  ask();
  time.nowMs = 30;
  answer({ sentAtMs: 0, status: 429, headers: { 'retry-after': '1' } });
  time.nowMs = 40;
  answer({ sentAtMs: 0, status: 429, headers: { 'retry-after': '2' } });
  expect(ask()).toBe(2040);
  expect(events.map((event) => event.kind)).toEqual(['parked', 'parked']);
});

test('a lone request that hangs is given a second one beside it', () => {
  const { ask, roundTrip, time } = governed({ discovery: 'off' });
  roundTrip();
  roundTrip({ status: 429, headers: { 'retry-after': '1' } });
  time.nowMs = 1060;
  expect(ask()).toBe(0);
  expect(ask()).toBe(3060);
  time.nowMs = 3060;
  expect(ask()).toBe(0);
});

test('gives a key up after a time without progress, the wait the server asked for left out', () => {
  const { roundTrip, time, governor, events } = governed({ discovery: 'off', stallSecs: 60 });
  roundTrip({ status: 429, headers: { 'retry-after': '3600' } });
  time.nowMs = 3_600_030;
  roundTrip({ status: 429 });
  expect(governor.givenUp(KEY, time.nowMs)).toBeNull();
  time.nowMs += 59_000;
  expect(governor.givenUp(KEY, time.nowMs)).toBeNull();
  time.nowMs += 1_000;
  expect(governor.givenUp(KEY, time.nowMs)).toBe('no progress for 60 s');
  expect(events.at(-1)?.kind).toBe('given-up');
});

test('gives a key up that is told to wait too long', () => {
  const { roundTrip, governor, time, ask } = governed({ maxServerWaitSecs: 60 });
  roundTrip({ status: 429, headers: { 'retry-after': '61' } });
  expect(governor.givenUp(KEY, time.nowMs)).toBe('it asks for a wait of 61 s');
  expect(ask()).toBe(Number.POSITIVE_INFINITY);
});

test('timeouts open the circuit, one probe at a time closes it', () => {
  const { ask, roundTrip, time, events } = governed({ discovery: 'off' });
  for (let count = 0; count < 5; count++) expect(roundTrip({ status: null, failure: 'timeout' })).toBe('failed');
  expect(ask()).toBe(1150);
  time.nowMs = 1150;
  roundTrip({ status: null, failure: 'timeout' });
  expect(ask()).toBe(3180);
  time.nowMs = 3180;
  roundTrip();
  expect([ask(), ask()]).toEqual([0, 0]);
  expect(events.map((event) => event.kind)).toEqual(['circuit-opened', 'circuit-opened', 'circuit-closed']);
});

test('a host that never did anything but refuse is dead within the minute, and its requests may fail', () => {
  const { ask, answer, time, governor } = governed({ discovery: 'off' });
  while (time.nowMs < 60_000 && governor.deadReason(KEY) === null) {
    const readyAtMs = ask();
    if (readyAtMs > 0) time.nowMs = readyAtMs;
    else answer({ sentAtMs: time.nowMs, status: null, failure: 'refused' });
  }
  expect(governor.deadReason(KEY)).toBe(
    'api.example.com counts as dead: it refuses connections, and it never answered',
  );
  expect(time.nowMs).toBe(23_000);
  expect(ask()).toBe(0);
});

test('time in which nobody had anything to send is no stall', () => {
  const { roundTrip, time, governor, ask } = governed({ discovery: 'off', stallSecs: 60 });
  roundTrip({ status: null, failure: 'reset' });
  time.nowMs += 3_600_000;
  expect(governor.givenUp(KEY, time.nowMs)).toBeNull();
  expect(ask()).toBe(0);
  expect(governor.givenUp(KEY, time.nowMs)).toBeNull();
});

test('the refusals of one burst are told of once', () => {
  const { ask, answer, time, events } = governed({ discovery: 'off', maxConcurrency: 5 });
  for (let count = 0; count < 5; count++) ask();
  time.nowMs = 30;
  for (let count = 0; count < 5; count++) {
    time.nowMs += 1;
    answer({ sentAtMs: 0, status: 429, headers: { 'retry-after': '9' } });
  }
  expect(ask()).toBe(9035);
  expect(events.map((event) => event.kind)).toEqual(['parked']);
});

test('a 503 that comes back for one URL again and again is that URL’s fault: it costs its retries, and no rate', () => {
  const { answer, time, ask } = governed({ discovery: 'off' });
  const url = 'https://api.example.com/broken';
  const verdicts = Array.from({ length: 6 }, () => {
    const readyAtMs = ask();
    if (readyAtMs > 0) {
      time.nowMs = readyAtMs;
      ask();
    }
    const sentAtMs = time.nowMs;
    time.nowMs += 30;
    return answer({ url, sentAtMs, status: 503 });
  });
  expect(verdicts).toEqual(['failed', 'failed', 'limited', 'failed', 'failed', 'failed']);
});

test('a server that fails one request in a hundred is not slowed down for', () => {
  const { roundTrip, snapshot } = governed({ discovery: 'off', maxConcurrency: 10 });
  for (let count = 1; count <= 600; count++) {
    const isFault = count % 100 === 0;
    expect(roundTrip({ url: `https://api.example.com/${count}`, status: isFault ? 503 : 200 })).toBe(
      isFault ? 'failed' : 'ok',
    );
  }
  expect(snapshot()).toMatchObject({ requestsPerSecond: null, limitRps: null, rateLimited: 0, parkedUntilMs: null });
});

test('a lone 503 with Retry-After parks for as long as told, and cuts nothing', () => {
  const { roundTrip, ask, time, snapshot } = governed({ discovery: 'off', maxConcurrency: 10 });
  for (let count = 0; count < 50; count++) roundTrip();
  expect(roundTrip({ url: 'https://api.example.com/x', status: 503, headers: { 'retry-after': '2' } })).toBe('limited');
  expect(ask()).toBeGreaterThanOrEqual(time.nowMs + 2_000);
  time.nowMs = ask();
  roundTrip();
  expect(ask()).toBe(0);
  expect(snapshot()).toMatchObject({ requestsPerSecond: null, limitRps: null, parkedUntilMs: null });
});

test('503s that come close together are a limit', () => {
  const { answer, ask, time, snapshot } = governed({ discovery: 'off', maxConcurrency: 10 });
  for (let count = 1; count <= 40; count++) {
    for (let askAtMs = ask(); askAtMs !== 0; askAtMs = ask()) time.nowMs = askAtMs;
    const sentAtMs = time.nowMs;
    time.nowMs += 30;
    answer({ sentAtMs, url: `https://api.example.com/${count}`, status: count % 8 === 0 ? 503 : 200 });
  }
  expect(snapshot()?.limitRps).not.toBeNull();
});

test('waits for the reset when the server says that nothing is left, before it refuses', () => {
  const { roundTrip, ask, snapshot } = governed({ discovery: 'off' });
  roundTrip({ headers: { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' } });
  expect(ask()).toBe(30_030);
  expect(snapshot()?.parkedReason).toBe('nothing is left of the limit, told to wait 30 s');
});

test('gives a key up whose quota is used up for the day', () => {
  const { roundTrip, governor, time } = governed();
  const bodyText = '{"error":{"errors":[{"reason":"dailyLimitExceeded"}]}}';
  expect(roundTrip({ status: 403, bodyText })).toBe('limited');
  expect(governor.givenUp(KEY, time.nowMs)).toBe('its quota is used up (status 403: dailyLimitExceeded)');
});

test('a limit stated in headers is paced by from the first answer on', () => {
  const { roundTrip, ask, snapshot, events } = governed({ discovery: 'off' });
  roundTrip({ headers: { 'ratelimit-policy': '"default";q=10;w=1', ratelimit: '"default";r=9;t=1' } });
  expect(snapshot()).toMatchObject({ limitRps: 10, limitSource: 'stated', requestsPerSecond: expect.closeTo(9.7) });
  expect(ask()).toBeCloseTo(1000 / 9.7);
  expect(events.at(-1)?.reason).toBe('api.example.com: the server states a limit of 10/s; going at 9.7/s');
});
