import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConcurrencyLimit, FixedWindow, type Limiter, SlidingLog, TokenBucket } from '../../bench/zoo/limiters.ts';
import type { HostPolicy } from '../../src/governor/governor.ts';
import { EPOCH_MS, governed, KEY } from './harness.ts';

const seconds = fc.integer({ min: 1, max: 120 });

/** What a server may answer, with how long it takes. */
const answer = fc.record({
  latencyMs: fc.integer({ min: 1, max: 3_000 }),
  status: fc.constantFrom(200, 200, 200, 404, 429, 429, 503, 500, null),
  wait: fc.option(fc.oneof(seconds.map(String), fc.constantFrom('0', '-1', '1e400', 'inf', 'soon')), { nil: null }),
  failure: fc.constantFrom('timeout', 'reset', 'refused', 'dns', 'tls' as const),
  remaining: fc.option(fc.integer({ min: -1, max: 50 }), { nil: null }),
});

type Planned = typeof answer extends fc.Arbitrary<infer T> ? T : never;
type Answered = { sentAtMs: number; endedAtMs: number; answer: Planned | 'ok' };

function headersOf(one: Planned): Record<string, string> {
  return {
    ...(one.wait === null ? {} : { 'retry-after': one.wait }),
    ...(one.remaining === null
      ? {}
      : { 'x-ratelimit-limit': '50', 'x-ratelimit-remaining': String(one.remaining), 'x-ratelimit-reset': '7' }),
  };
}

/**
 * Runs a client that sends whenever it may, against a list of answers, then against a server that is well again for so
 * many requests, or until a time.
 */
function run(options: {
  policy: Partial<HostPolicy>;
  answers: Planned[];
  untilMs: number;
  wellRequests?: number;
  onGrant: (nowMs: number, inFlight: number) => void;
  onAnswer: (answered: Answered) => void;
}) {
  const { governor, time, ask, answer: end } = governed(options.policy);
  const flying: Answered[] = [];
  let next = 0;
  const most = options.answers.length + (options.wellRequests ?? 50);
  while (time.nowMs < options.untilMs && next < most) {
    const readyAtMs = ask();
    if (readyAtMs === 0) {
      const planned = options.answers[next++] ?? 'ok';
      const latencyMs = planned === 'ok' ? 40 : planned.latencyMs;
      flying.push({ sentAtMs: time.nowMs, endedAtMs: time.nowMs + latencyMs, answer: planned });
      flying.sort((a, b) => a.endedAtMs - b.endedAtMs);
      options.onGrant(time.nowMs, flying.length);
      continue;
    }
    const due = flying[0];
    if (due === undefined && readyAtMs === Number.POSITIVE_INFINITY) return { stuckAtMs: time.nowMs, governor };
    if (due === undefined || readyAtMs < due.endedAtMs) {
      time.nowMs = readyAtMs;
      continue;
    }
    flying.shift();
    time.nowMs = due.endedAtMs;
    if (due.answer === 'ok') end({ sentAtMs: due.sentAtMs });
    else {
      const { status, failure } = due.answer;
      const headers = status === null ? {} : headersOf(due.answer);
      end({ sentAtMs: due.sentAtMs, status, failure: status === null ? failure : null, headers });
    }
    options.onAnswer(due);
  }
  return { stuckAtMs: null, governor };
}

const patient = { stallSecs: 1e9, maxServerWaitSecs: 1e9 };

test('never sends earlier than a server told it to', () => {
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 60 }), fc.constantFrom('auto', 'off' as const), (answers, discovery) => {
      let toldUntilMs = 0;
      run({
        policy: { ...patient, discovery, maxConcurrency: 8 },
        answers,
        untilMs: 1e9,
        onGrant: (nowMs) => expect(nowMs).toBeGreaterThanOrEqual(toldUntilMs),
        onAnswer: ({ answer: one, endedAtMs }) => {
          const isLimit = one !== 'ok' && (one.status === 429 || one.status === 503);
          const waitMs = isLimit && /^[1-9]\d*$/.test(one.wait ?? '') ? Number(one.wait) * 1000 : 0;
          toldUntilMs = Math.max(toldUntilMs, waitMs > 0 ? endedAtMs + waitMs : 0);
        },
      });
    }),
    { numRuns: 150 },
  );
});

test('never goes above a configured rate in any second, nor above a configured concurrency', () => {
  const policies = fc.record({
    requestsPerSecond: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constantFrom(0.5, 2.5, 51)),
    maxConcurrency: fc.integer({ min: 1, max: 60 }),
    minDelayMs: fc.constantFrom(0, 0, 5, 300),
  });
  fc.assert(
    fc.property(policies, fc.array(answer, { maxLength: 40 }), (ceilings, answers) => {
      const grants: number[] = [];
      run({
        policy: { ...patient, ...ceilings },
        answers,
        untilMs: 20_000,
        wellRequests: 2000,
        onGrant: (nowMs, inFlight) => {
          expect(inFlight).toBeLessThanOrEqual(ceilings.maxConcurrency);
          if (grants.length > 0) expect(nowMs - grants.at(-1)!).toBeGreaterThanOrEqual(ceilings.minDelayMs - 1e-6);
          grants.push(nowMs);
        },
        onAnswer: () => {},
      });
      expect(mostInOneSecond(grants)).toBeLessThanOrEqual(Math.ceil(ceilings.requestsPerSecond));
    }),
    { numRuns: 80 },
  );
});

function mostInOneSecond(grants: number[]): number {
  let from = 0;
  let most = 0;
  grants.forEach((atMs, index) => {
    while (grants[from]! <= atMs - 1000 + 1e-6) from += 1;
    most = Math.max(most, index - from + 1);
  });
  return most;
}

test('also holds the rate when its timers are late and it is asked at odd times', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.array(fc.double({ min: 0, max: 30, noNaN: true }), { minLength: 50, maxLength: 400 }),
      (requestsPerSecond, lateness) => {
        const { ask, time } = governed({ requestsPerSecond, maxConcurrency: 10_000 });
        const grants: number[] = [];
        for (const lateMs of lateness) {
          let readyAtMs = ask();
          while (readyAtMs === 0) {
            grants.push(time.nowMs);
            readyAtMs = ask();
          }
          time.nowMs = readyAtMs + lateMs;
        }
        expect(mostInOneSecond(grants)).toBeLessThanOrEqual(requestsPerSecond);
      },
    ),
    { numRuns: 60 },
  );
});

test('never waits for nothing: with nothing in flight there is always a time to ask again', () => {
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 120 }), fc.integer({ min: 1, max: 30 }), (answers, maxConcurrency) => {
      const nothing = { onGrant: () => {}, onAnswer: () => {} };
      const { stuckAtMs } = run({ policy: { ...patient, maxConcurrency }, answers, untilMs: 1e9, ...nothing });
      expect(stuckAtMs).toBeNull();
    }),
    { numRuns: 100 },
  );
});

test('makes progress again when the server has recovered, whatever it answered before', () => {
  fc.assert(
    fc.property(fc.array(answer, { minLength: 5, maxLength: 80 }), (answers) => {
      let planned = 0;
      let wellAnswers = 0;
      let lastBadMs = 0;
      const untilMs = 3_600_000;
      run({
        policy: { ...patient, maxConcurrency: 10, requestsPerSecond: 2 },
        answers,
        untilMs,
        wellRequests: 20_000,
        onGrant: () => {
          planned += 1;
        },
        onAnswer: ({ answer: one, endedAtMs }) => {
          if (one === 'ok') wellAnswers += 1;
          else lastBadMs = endedAtMs;
        },
      });
      expect(planned).toBeGreaterThan(answers.length);
      // At 2/s, less the longest wait and the climb from the lowest rate.
      expect(wellAnswers).toBeGreaterThan(((untilMs - lastBadMs) / 1000 - 400) * 0.5);
    }),
    { numRuns: 60 },
  );
});

test('finds a limiter’s limit whatever its kind, rate, burst and latency, and is never stuck', () => {
  const limiters: fc.Arbitrary<{ make: () => Limiter; rate: number }> = fc.oneof(
    fc
      .tuple(fc.integer({ min: 5, max: 300 }), fc.integer({ min: 1, max: 100 }))
      .map(([rate, burst]) => ({ rate, make: () => new TokenBucket(rate, burst) })),
    fc.integer({ min: 5, max: 300 }).map((rate) => ({ rate, make: () => new FixedWindow(rate, 1000) })),
    fc.integer({ min: 5, max: 300 }).map((rate) => ({ rate, make: () => new SlidingLog(rate, 1000) })),
    fc.integer({ min: 1, max: 30 }).map((limit) => ({ rate: limit / 0.15, make: () => new ConcurrencyLimit(limit) })),
  );
  fc.assert(
    fc.property(limiters, fc.integer({ min: 5, max: 150 }), ({ make, rate }, latencyMs) => {
      const accepted = acceptedPerSecond(make(), latencyMs, 90);
      const reachable = Math.min(rate, 50_000 / latencyMs);
      const mean = accepted.slice(60).reduce((sum, count) => sum + count, 0) / 30;
      expect(mean / reachable).toBeGreaterThan(0.25);
    }),
    { numRuns: 25 },
  );
});

/** A client with endless work against a limiter without headers; counted by the limiter. */
function acceptedPerSecond(limiter: Limiter, latencyMs: number, secs: number): number[] {
  const { time, ask, answer: end } = governed();
  const counts = new Array<number>(secs).fill(0);
  const flying: { sentAtMs: number; endedAtMs: number; accepted: boolean }[] = [];
  while (time.nowMs < secs * 1000) {
    const readyAtMs = ask();
    if (readyAtMs === 0) {
      const { accepted } = limiter.arrive(time.nowMs);
      if (accepted) counts[Math.floor(time.nowMs / 1000)]! += 1;
      flying.push({ sentAtMs: time.nowMs, endedAtMs: time.nowMs + latencyMs, accepted });
      continue;
    }
    const due = flying[0];
    if (due !== undefined && due.endedAtMs <= readyAtMs) {
      flying.shift();
      time.nowMs = due.endedAtMs;
      if (due.accepted) limiter.leave(time.nowMs);
      end({ sentAtMs: due.sentAtMs, status: due.accepted ? 200 : 429, wallMs: EPOCH_MS + time.nowMs, key: KEY });
    } else time.nowMs = readyAtMs;
  }
  return counts;
}
