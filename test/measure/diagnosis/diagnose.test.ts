import { describe, expect, test } from 'vitest';
import { advised, diagnosisOf, finding, HOST, type Scenario } from './scenario.ts';

// 10 slots for 10 s, all of them on the wire: 100,000 slot-ms.
const FULL: Scenario = { config: { maxConcurrency: 10 }, attempts: 1_000, timings: { firstByte: 100 } };
// 50 requests/s of 20 ms in 50 slots: one slot is in use.
const IDLE: Scenario = { attempts: 500, timings: { firstByte: 20 }, tick: { inFlight: 1 } };

describe('the shares', () => {
  test.each<[string, Scenario]>([
    ['a full crawl', FULL],
    ['one held back', { ...IDLE, tick: { inFlight: 1, paceRps: 50, limitSource: 'discovered' } }],
    ['one with retries', { ...FULL, failed: { status: 500, failure: null, count: 300, retries: 300 } }],
    ['an overloaded one', { ...FULL, busyShare: 0.98, timings: { firstByte: 100, download: 30, handler: 2 } }],
    ['one with little to send', { ...IDLE, tick: { inFlight: 1, pending: 1 } }],
  ])('of %s add up to one', async (_name, scenario) => {
    const diagnosis = await diagnosisOf(scenario);
    expect(diagnosis?.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 9);
    expect(diagnosis?.every(({ share, evidence }) => share > 0 && evidence !== '')).toBe(true);
    expect(diagnosis?.map(({ share }) => share)).toEqual(
      diagnosis?.map(({ share }) => share).toSorted((a, b) => b - a),
    );
  });

  test('are those of the slot-time: wire time exact, what is left idle', async () => {
    const diagnosis = await diagnosisOf({
      config: { maxConcurrency: 10 },
      attempts: 1_000,
      timings: { firstByte: 40, download: 10 },
      handshake: { connect: 10 },
      tick: { inFlight: 5, paceRps: 100, limitSource: 'configured' },
    });
    expect(finding(diagnosis, 'network round trips')?.share).toBeCloseTo(0.1, 3);
    expect(finding(diagnosis, 'server time')?.share).toBeCloseTo(0.3, 3);
    expect(finding(diagnosis, 'download')?.share).toBeCloseTo(0.1, 3);
    expect(diagnosis?.[0]?.share).toBeCloseTo(0.5, 2);
  });

  test('are not told of a crawl of a moment, or of a few requests', async () => {
    expect(await diagnosisOf({ ...FULL, durationMs: 750 })).toBeNull();
    expect(await diagnosisOf({ ...FULL, attempts: 19 })).toBeNull();
  });
});

describe('concurrency', () => {
  test('is advised when all slots are busy with a server that answers no slower for it', async () => {
    const diagnosis = await diagnosisOf(FULL);
    expect(advised(diagnosis)).toEqual(['concurrency']);
    expect(finding(diagnosis, 'concurrency')).toMatchObject({
      share: expect.closeTo(1, 1),
      evidence: `All 10 slots were in use while there was work, and ${HOST} answered in 100 ms, hardly slower than at best.`,
      advice: `Raise hosts."${HOST}".maxConcurrency from 10 to 20: nothing was refused.`,
    });
  });

  test('names the ceiling over all hosts where that is the one that binds', async () => {
    const diagnosis = await diagnosisOf({
      ...FULL,
      config: { maxConcurrency: 50 },
      maxConcurrency: 10,
      tick: { inFlight: 10 },
    });
    expect(finding(diagnosis, 'concurrency')?.advice).toBe(
      'Raise maxConcurrency (of all hosts) from 10 to 20: nothing was refused.',
    );
  });

  test.each<[string, Scenario]>([
    ['the server slows under the load', { ...FULL, slowedBy: 3 }],
    ['the first answers, without load, came much faster', { ...FULL, unloadedMs: 30 }],
    ['requests wait for a stream', { ...FULL, httpVersion: '2', connectionsWaiting: 2 }],
    ['the server refused requests', { ...FULL, limited: 10 }],
    ['a limit is known and reached', { ...FULL, snapshot: { limitRps: 110, limitSource: 'discovered' } }],
    ['our own process is busy', { ...FULL, busyShare: 0.75 }],
    ['slots stand idle', { ...FULL, attempts: 300, tick: { inFlight: 3, paceRps: 30, limitSource: 'configured' } }],
    ['too few requests were made', { ...FULL, attempts: 40, timings: { firstByte: 2_500 } }],
  ])('is not advised when %s', async (_name, scenario) => {
    expect(advised(await diagnosisOf(scenario))).not.toContain('concurrency');
  });

  test('is not advised where the server slows: more would wait there', async () => {
    const diagnosis = await diagnosisOf({ ...FULL, attempts: 500, slowedBy: 3 });
    expect(finding(diagnosis, 'server time')?.evidence).toContain('it slows under this load');
    expect(advised(diagnosis)).toEqual([]);
  });
});

describe('distance', () => {
  const FAR: Scenario = { ...FULL, handshake: { connect: 80 } };

  test('is advised when the way takes most of the time', async () => {
    const found = finding(await diagnosisOf(FAR), 'distance');
    expect(found?.share).toBeCloseTo(0.8, 1);
    expect(found?.evidence).toBe(`${HOST} is 80 ms away and back, of the 100 ms that one request takes at best.`);
    expect(found?.advice).toBe(
      `Run the crawler nearer to it: probe --save there, then probe --compare, tells how much that gains. Or raise hosts."${HOST}".maxConcurrency from 10 to 20: nothing was refused.`,
    );
  });

  test('is not advised when connecting took longer than a whole request: many were opened at once', async () => {
    const diagnosis = await diagnosisOf({ ...FULL, handshake: { connect: 300 } });
    expect(finding(diagnosis, 'distance')).toBeUndefined();
    expect(finding(diagnosis, 'network round trips')).toBeUndefined();
    expect(advised(diagnosis)).toEqual(['concurrency']);
  });

  test('is not advised where the host is this machine, however long connecting took', async () => {
    for (const host of ['localhost', '127.0.0.1:8080', '[::1]:8080'])
      expect(finding(await diagnosisOf({ ...FAR, host }), 'distance')).toBeUndefined();
    expect(finding(await diagnosisOf({ ...FAR, host: 'localhost.example.com' }), 'distance')).toBeDefined();
  });

  test('says nothing of concurrency where that would not help', async () => {
    const found = finding(await diagnosisOf({ ...FAR, busyShare: 0.8 }), 'distance');
    expect(found?.advice).toMatch(/gains\.$/);
  });

  test.each<[string, Scenario]>([
    ['the server is near', { ...FULL, handshake: { connect: 1 } }],
    ['the server itself takes long', { ...FULL, handshake: { connect: 30 } }],
    [
      'a rate limit sets the pace',
      {
        ...FAR,
        attempts: 200,
        tick: { inFlight: 2, paceRps: 20, limitSource: 'stated' },
        snapshot: { limitRps: 20, limitSource: 'stated' },
      },
    ],
  ])('is not advised when %s', async (_name, scenario) => {
    expect(advised(await diagnosisOf(scenario))).not.toContain('distance');
  });
});

describe('fresh handshakes', () => {
  const CLOSING: Scenario = {
    ...FULL,
    timings: { firstByte: 40 },
    handshake: { connect: 10, tls: 50 },
    freshEvery: 1,
  };

  test('are told of where the server closes its connections', async () => {
    const found = finding(await diagnosisOf(CLOSING), 'fresh handshakes');
    expect(found?.share).toBeCloseTo(0.6, 1);
    expect(found?.evidence).toBe(`100 % of the requests to ${HOST} opened a connection, at 60 ms each.`);
    expect(found?.advice).toContain(`raise hosts."${HOST}".maxConcurrency from 10 to 20`);
  });

  test('are put down to HTTP/2 turned off, where it was', async () => {
    const diagnosis = await diagnosisOf({ ...CLOSING, config: { maxConcurrency: 10, http2: 'off' } });
    expect(advised(diagnosis)).toContain('HTTP version');
    expect(finding(diagnosis, 'HTTP version')?.advice).toContain('--no-http2');
    expect(finding(diagnosis, 'fresh handshakes')).toBeUndefined();
  });

  test('are put down to proxies that change with each request, where they do', async () => {
    const sessionPool = { rotation: 'perRequest', proxyUrls: ['http://proxy.example:80'] };
    const diagnosis = await diagnosisOf({ ...CLOSING, config: { maxConcurrency: 10, sessionPool } });
    expect(finding(diagnosis, 'fresh handshakes')?.advice).toContain('sessionPool.rotation: perSession');
  });

  test.each<[string, Scenario]>([
    ['connections are kept', { ...CLOSING, freshEvery: 100 }],
    ['they are those that fill the slots', { ...CLOSING, attempts: 60, freshEvery: 4 }],
    ['they cost little', { ...CLOSING, timings: { firstByte: 99 }, handshake: { connect: 1, tls: 0 } }],
  ])('are not told of when %s', async (_name, scenario) => {
    const names = advised(await diagnosisOf(scenario));
    expect(names).not.toContain('fresh handshakes');
    expect(names).not.toContain('HTTP version');
  });
});

describe('a wait for a connection', () => {
  test('that is being opened is the handshake, counted once', async () => {
    const opening = {
      ...FULL,
      timings: { firstByte: 40 },
      handshake: { connect: 10, tls: 50 },
      freshEvery: 1,
      connectionsWaiting: 6,
    };
    const diagnosis = await diagnosisOf(opening);
    expect(finding(diagnosis, 'fresh handshakes')?.share).toBeCloseTo(0.6, 1);
    expect(finding(diagnosis, 'wait for a connection')).toBeUndefined();
  });
});

describe('HTTP version', () => {
  const FEW_STREAMS: Scenario = { ...FULL, httpVersion: '2', attempts: 400, connectionsWaiting: 6 };

  test('is told of when requests wait for a stream', async () => {
    const found = finding(await diagnosisOf(FEW_STREAMS), 'HTTP version');
    expect(found?.share).toBeCloseTo(0.6, 1);
    expect(found?.advice).toContain(`hosts."${HOST}".http2: off`);
  });

  test('is not when they wait over HTTP/1.1, or hardly wait', async () => {
    expect(advised(await diagnosisOf({ ...FEW_STREAMS, httpVersion: '1.1' }))).not.toContain('HTTP version');
    expect(advised(await diagnosisOf({ ...FEW_STREAMS, attempts: 950, connectionsWaiting: 0.5 }))).not.toContain(
      'HTTP version',
    );
  });
});

describe('rate limit', () => {
  const held = (source: 'configured' | 'stated' | 'discovered', extra: Scenario = {}): Scenario => ({
    ...IDLE,
    tick: { inFlight: 1, paceRps: 50, limitSource: source },
    snapshot: { limitRps: 50, limitSource: source },
    ...extra,
  });

  test('names our own setting where that holds the host back', async () => {
    const found = finding(await diagnosisOf(held('configured', { config: { requestsPerSecond: 50 } })), 'rate limit');
    expect(found?.share).toBeCloseTo(0.98, 2);
    expect(found?.evidence).toContain(`hosts."${HOST}".requestsPerSecond (50) holds ${HOST} back; it refused nothing.`);
    expect(found?.advice).toMatch(/^Raise hosts\."api\.example\.com"\.requestsPerSecond/);
  });

  test('names minDelayMs where that is the tighter one', async () => {
    const found = finding(await diagnosisOf(held('configured', { config: { minDelayMs: 20 } })), 'rate limit');
    expect(found?.advice).toMatch(/^Lower hosts\."api\.example\.com"\.minDelayMs/);
  });

  test('does not advise to go faster where the server refused requests at our own rate', async () => {
    const found = finding(
      await diagnosisOf(held('configured', { config: { requestsPerSecond: 50 }, limited: 20 })),
      'rate limit',
    );
    expect(found?.advice).toBe('');
  });

  test('tells a stated one from one found by rejections', async () => {
    const stated = finding(await diagnosisOf(held('stated')), 'rate limit');
    expect(stated?.evidence).toBe(`${HOST} states a limit at 50/s, and is crawled at 50/s.`);
    const found = finding(await diagnosisOf(held('discovered', { limited: 3 })), 'rate limit');
    expect(found?.evidence).toContain(`${HOST} refused 3 of 503 requests; its limit was found at 50/s`);
    expect(found?.advice).toContain('headroom: 0.9 (now 0.8)');
  });

  test('tells of a host that was left alone because it asked for it', async () => {
    const diagnosis = await diagnosisOf({ ...IDLE, limited: 5, tick: { inFlight: 0, isParked: true } });
    expect(finding(diagnosis, 'rate limit')?.advice).toContain('told us to wait');
  });

  test('tells of a Crawl-delay, and of the ceiling over all hosts', async () => {
    const delayed = await diagnosisOf({ ...IDLE, tick: { inFlight: 0, crawlDelayMs: 1_000 } });
    expect(finding(delayed, 'rate limit')?.evidence).toContain('Crawl-delay');
    const capped = await diagnosisOf({ ...IDLE, maxRequestsPerMinute: 3_000 });
    expect(finding(capped, 'rate limit')?.evidence).toContain('maxRequestsPerMinute (3000)');
  });

  test('is not told of where nothing is held back', async () => {
    expect(finding(await diagnosisOf(FULL), 'rate limit')).toBeUndefined();
    const reached = { ...FULL, tick: { paceRps: 120, limitSource: 'discovered' as const } };
    expect(finding(await diagnosisOf(reached), 'rate limit')).toBeUndefined();
  });
});

describe('a host out of order', () => {
  test('is told of when it was left alone after failures', async () => {
    const failed = { status: null, failure: 'TIMEOUT_CONNECT', count: 10, retries: 3 };
    const found = finding(
      await diagnosisOf({ ...IDLE, failed, tick: { inFlight: 0, isParked: true } }),
      'host out of order',
    );
    expect(found?.evidence).toContain('10 x TIMEOUT_CONNECT');
  });
});

describe('a crawl that stands still', () => {
  // 10 requests are left for 50 slots, and none of them may be sent.
  const still = (tick: Scenario['tick']): Scenario => ({ ...IDLE, tick: { inFlight: 0, pending: 10, ...tick } });

  test('does so for what its last requests wait for, not for want of more', async () => {
    const parked = await diagnosisOf({ ...still({ isParked: true }), limited: 5 });
    expect(finding(parked, 'rate limit')?.share).toBeCloseTo(0.98, 2);
    expect(finding(parked, 'empty queue')).toBeUndefined();
  });

  test('waits for retries where nothing else is left', async () => {
    const failed = { status: 500, failure: null, count: 300, retries: 290 };
    const tick = { hasRetried: true, concurrency: 4, paceRps: 50 };
    const diagnosis = await diagnosisOf({ ...still(tick), failed, isAllDelayed: true });
    expect(finding(diagnosis, 'retries')?.share).toBeGreaterThan(0.95);
    expect(finding(diagnosis, 'retries')?.evidence).toContain('290 retries');
    expect(finding(diagnosis, 'empty queue')).toBeUndefined();
  });

  test('waits for a robots.txt that does not come', async () => {
    const found = finding(await diagnosisOf(still({ isAwaitingRobots: true })), 'host out of order');
    expect(found?.evidence).toBe(
      `Nothing was sent to ${HOST} for 98 % of the slot-time, as its robots.txt did not come.`,
    );
    expect(found?.advice).toContain('probe');
  });

  test('has an empty queue while one request is under way: more could be', async () => {
    const diagnosis = await diagnosisOf(still({ inFlight: 1, hasRetried: true }));
    expect(finding(diagnosis, 'empty queue')?.share).toBeCloseTo(0.8, 1);
  });

  test('tells why a host was given up', async () => {
    const snapshot = { givenUp: 'it asks for a wait of 56 h' };
    const diagnosis = await diagnosisOf({ ...still({ isParked: true }), limited: 5, snapshot });
    expect(finding(diagnosis, 'rate limit')?.evidence).toMatch(/, and given up: it asks for a wait of 56 h\.$/);
  });
});

describe('the search for the limit', () => {
  const SEARCHING: Scenario = { ...IDLE, tick: { inFlight: 4, concurrency: 4 } };

  test('is told of when a crawl ended before it did', async () => {
    expect(finding(await diagnosisOf(SEARCHING), 'search for the limit')?.advice).toContain('--no-discovery');
  });

  test('tells the highest rate that was not refused, not the mean', async () => {
    // All 500 came in the first of the ten seconds.
    const found = finding(await diagnosisOf(SEARCHING), 'search for the limit');
    expect(found?.evidence).toMatch(/it refused nothing up to 500\/s\.$/);
  });

  test('gives no advice where the server fails or refuses', async () => {
    const failed = { status: 500, failure: null, count: 50, retries: 50 };
    expect(advised(await diagnosisOf({ ...SEARCHING, failed }))).not.toContain('search for the limit');
    expect(advised(await diagnosisOf({ ...SEARCHING, limited: 1 }))).not.toContain('search for the limit');
  });

  test('has ended where the governor saw the server get slower', async () => {
    const knee = {
      kind: 'limit-changed',
      reason: 'slower',
      facts: { concurrency: 4, requestsPerSecond: null, limitRps: null },
    } as const;
    const diagnosis = await diagnosisOf({ ...SEARCHING, events: [knee] });
    expect(advised(diagnosis)).toEqual([]);
    expect(finding(diagnosis, "the server's own limit")?.evidence).toContain('More than 4 in flight');
  });
});

describe('our own process', () => {
  const BUSY: Scenario = { ...FULL, attempts: 1_000, timings: { firstByte: 20 }, slowedBy: 8, busyShare: 0.97 };

  test('is told of when it is busy and answers wait for it', async () => {
    const found = finding(await diagnosisOf(BUSY), 'own process');
    expect(found?.share).toBeGreaterThan(0.5);
    expect(found?.evidence).toBe('Our own process was busy for 97 % of the time: one core is used up.');
  });

  test('is not when it is idle, however slow the answers are', async () => {
    expect(advised(await diagnosisOf({ ...BUSY, busyShare: 0.5 }))).not.toContain('own process');
  });

  test('gives way to the handler that keeps it busy', async () => {
    const diagnosis = await diagnosisOf({ ...BUSY, timings: { firstByte: 20, handler: 8 } });
    expect(advised(diagnosis)).toEqual(['parse / handler']);
    expect(finding(diagnosis, 'parse / handler')?.evidence).toContain('keeps the process busy');
  });
});

describe('parse / handler', () => {
  test('is told of when handlers wait', async () => {
    const diagnosis = await diagnosisOf({ ...FULL, timings: { firstByte: 20, handler: 80 }, tick: { inFlight: 2 } });
    expect(finding(diagnosis, 'parse / handler')?.advice).toContain('Let the handler wait for less');
  });

  test('tells parsing from handling', async () => {
    const diagnosis = await diagnosisOf({ ...FULL, timings: { firstByte: 90, parse: 9, handler: 1 }, busyShare: 0.95 });
    expect(finding(diagnosis, 'parse / handler')?.advice).toContain('smaller bodies');
  });

  test('is not told of when it takes little', async () => {
    expect(advised(await diagnosisOf({ ...FULL, timings: { firstByte: 99, handler: 1 } }))).not.toContain(
      'parse / handler',
    );
  });
});

describe('storage', () => {
  test('is told of when results wait to be stored', async () => {
    const slow: Scenario = { ...IDLE, tick: { inFlight: 1 }, isStoreBehind: true };
    expect(finding(await diagnosisOf(slow), 'storage')?.advice).toContain('--storage-dir');
    expect(finding(await diagnosisOf({ ...slow, durability: 'full' }), 'storage')?.advice).toContain(
      'durability: normal',
    );
  });

  test('is not when none do', async () => {
    expect(finding(await diagnosisOf(IDLE), 'storage')).toBeUndefined();
  });
});

describe('retries', () => {
  test('are told of with what they were for', async () => {
    const failed = { status: 500, failure: null, count: 500, retries: 480 };
    const found = finding(await diagnosisOf({ ...FULL, attempts: 500, failed }), 'retries');
    expect(found?.evidence).toBe(`480 retries for 1000 attempts at ${HOST}, most often after HTTP_500 (500).`);
  });

  test('count the silence of answers that never came', async () => {
    const failed = { status: null, failure: 'TIMEOUT_FIRST_BYTE', count: 20, retries: 20 };
    const found = finding(await diagnosisOf({ ...FULL, attempts: 400, failed }), 'retries');
    expect(found?.share).toBeGreaterThan(0.5);
    expect(found?.advice).toContain('raise the timeout');
  });

  test('are not told of when they are few', async () => {
    const failed = { status: 500, failure: null, count: 4, retries: 4 };
    expect(advised(await diagnosisOf({ ...FULL, failed }))).not.toContain('retries');
  });
});

describe('an empty queue', () => {
  const LISTED: Scenario = { ...IDLE, tick: { inFlight: 1, pending: 1 } };

  test('is told of when each response led to the next', async () => {
    const found = finding(await diagnosisOf(LISTED), 'empty queue');
    expect(found?.share).toBeCloseTo(0.98, 2);
    expect(found?.advice).toContain('parallelPages');
  });

  test('gives no advice when it was merely short', async () => {
    const diagnosis = await diagnosisOf({ ...IDLE, tick: { inFlight: 20, pending: 20 } });
    expect(advised(diagnosis)).toEqual([]);
  });
});
