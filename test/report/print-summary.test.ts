import { describe, expect, test } from 'vitest';
import type { HostSummary, Summary } from '../../src/core/summary.ts';
import { noTime } from '../../src/core/timings.ts';
import { printSummary } from '../../src/report/print-summary.ts';
import { widthOf } from '../../src/report/terminal.ts';

const NO_LATENCY = { p50: null, p95: null, p99: null, mean: null };

const HOST: HostSummary = {
  requests: 2_025,
  succeeded: 1_990,
  failed: 10,
  rateLimited: 25,
  limitRps: 95.2,
  limitSource: 'discovered',
  concurrency: 12,
  latencyMs: { p50: 12.3, p95: 1_400, p99: 2_000, mean: 30 },
  baseLatencyMs: 10,
  roundTripMs: 4,
  httpVersion: '1.1',
  parkedUntil: null,
  givenUp: null,
};

function summaryOf(changes: Partial<Summary> = {}): Summary {
  return {
    run: 'practice',
    state: 'finished',
    startedAt: '2026-01-01T00:00:00.000Z',
    durationSecs: 21.1,
    input: { lines: 2_003, malformed: 2, duplicates: 1 },
    requests: { total: 2_000, succeeded: 1_990, failed: 10, skipped: 0, pending: 0, retries: 25, notModified: 0 },
    skipped: {},
    failures: [
      {
        code: 'HTTP_404',
        host: 'api.example.com',
        count: 10,
        example: `https://api.example.com/${'long/'.repeat(40)}end`,
        advice: `Check the URL. ${'And this sentence goes on for a while. '.repeat(3)}`.trim(),
      },
    ],
    records: { default: 1_990, failures: 10 },
    invalid: 0,
    requestsPerSecond: 94.8,
    statusCodes: { 200: 1_990, 404: 10, 429: 25 },
    latencyMs: { p50: 12.3, p95: 1_400, p99: 2_000, mean: 30 },
    timeMs: { ...noTime(), politeness: 7_000, firstByte: 2_980, commit: 20 },
    connections: { opened: 50, requests: 2_025, reusePercent: 97.5, http2Percent: 0, waiting: 0 },
    hosts: { 'api.example.com': HOST },
    theoreticalRps: 100,
    achievedShare: 0.948,
    slotUtilisation: 0.11,
    completeness: null,
    drift: null,
    workers: null,
    diagnosis: null,
    exports: ['storage/runs/practice/exports/default.csv'],
    ...changes,
  };
}

test('a finished run, as a person reads it', () => {
  expect(printSummary(summaryOf(), { color: false })).toBe(`Run practice finished in 21 s

  Requests     2,000: 1,990 succeeded, 10 failed, 25 retries
  Input        2,003 lines, 2 malformed, 1 duplicates
  Records      default 1,990, failures 10
  Rate         94.8 requests/s, 95 % of the 100 possible, slots 11 % used
  Latency      p50 12 ms, p95 1.4 s, p99 2.0 s
  Status       1,990 × 200, 10 × 404, 25 × 429
  Connections  50 opened, 98 % of requests on one already open

Where a request spent its time
  held back    █████████████████████░░░░░░░░░  70 %
  first byte   █████████░░░░░░░░░░░░░░░░░░░░░  30 %

Host                            sent failed refused    limit       p50       p95
  api.example.com              2,025     10      25   95.2/s     12 ms     1.4 s

Failures
  10 × HTTP_404  api.example.com
    Check the URL. And this sentence goes on for a while. And this sentence goes
    on for a while. And this sentence goes on for a while.
    https://api.example.com/long/long/long…ong/long/long/long/long/long/long/end

Files
  storage/runs/practice/exports/default.csv`);
});

test('the example of a failure is named once, though its message begins with it', () => {
  const example = 'https://api.example.com/login';
  const group = { code: 'INVALID_JSON', host: 'api.example.com', count: 2, example, advice: 'Look at bodyExcerpt.' };
  const message = `${example}: the body is not JSON: it is an HTML page titled "Login"`;
  const text = printSummary(summaryOf({ failures: [{ ...group, message }] }), { color: false, columns: 120 });
  expect(text).toContain(`  2 × INVALID_JSON  api.example.com
    the body is not JSON: it is an HTML page titled "Login". Look at bodyExcerpt.
    ${example}
`);
});

test('records that were declared and did not come are told of in the first line', () => {
  const resource = { declared: 5, fetched: 3, duplicates: 0, suspectedShifts: 0 };
  const first = (gaps: number[]) => {
    const completeness = gaps.map((missing, index) => ({ ...resource, resource: `r${index}`, gaps: missing }));
    return printSummary(summaryOf({ completeness }), { color: false }).split('\n')[0];
  };
  expect(first([2, 1])).toBe('Run practice finished in 21 s, 3 declared records are missing');
  expect(first([1])).toBe('Run practice finished in 21 s, 1 declared record is missing');
  expect(first([0])).toBe('Run practice finished in 21 s');
});

test('an interrupted one says what is left', () => {
  const { requests } = summaryOf();
  const text = printSummary(summaryOf({ state: 'interrupted', requests: { ...requests, pending: 1_234 } }), {
    color: false,
  });
  expect(text.split('\n')[0]).toBe('Run practice interrupted after 21 s, 1,234 requests left');
});

test('a run that did nothing is one line and its counts', () => {
  const empty = summaryOf({
    requests: { total: 0, succeeded: 0, failed: 0, skipped: 0, pending: 0, retries: 0, notModified: 0 },
    input: { lines: 0, malformed: 0, duplicates: 0 },
    failures: [],
    records: {},
    requestsPerSecond: null,
    statusCodes: {},
    latencyMs: NO_LATENCY,
    timeMs: noTime(),
    connections: { opened: 0, requests: 0, reusePercent: null, http2Percent: null, waiting: 0 },
    hosts: {},
    exports: [],
  });
  expect(printSummary(empty, { color: false })).toBe(
    'Run practice finished in 21 s\n\n  Requests     0: 0 succeeded, 0 failed',
  );
});

test('figures of a host stand apart, the widest too', () => {
  const latencyMs = { ...HOST.latencyMs, p50: 0.596, p95: 0.725 };
  const hosts = { 'api.example.com': { ...HOST, requests: 1_234_567, limitRps: 100, latencyMs } };
  const text = printSummary(summaryOf({ hosts }), { color: false });
  expect(text).toMatch(/^ {2}api\.example\.com +1,234,567 +10 +25 +100\/s +0\.596 ms +0\.725 ms$/m);
});

describe('the share of what is possible', () => {
  const rateOf = (changes: Partial<Summary>) =>
    /Rate +(.*)/.exec(printSummary(summaryOf({ slotUtilisation: null, ...changes }), { color: false }))?.[1];
  const far = { requestsPerSecond: 350, theoreticalRps: 35_598, achievedShare: 350 / 35_598 };
  const fast = { ...NO_LATENCY, p50: 0.6 };

  test('is left out where it is our own process that limits, or the few seconds the crawl took', () => {
    expect(rateOf({ ...far, latencyMs: fast })).toBe('350 requests/s');
    expect(rateOf({ ...far, durationSecs: 2.9 })).toBe('350 requests/s');
  });

  test('is told where the host takes its time, and where it is near', () => {
    expect(rateOf(far)).toBe('350 requests/s, 1 % of the 35,598 possible');
    expect(rateOf({ ...far, latencyMs: { ...fast, p50: 5 } })).toBe('350 requests/s, 1 % of the 35,598 possible');
    const near = { requestsPerSecond: 10, theoreticalRps: 100, achievedShare: 0.1, latencyMs: fast, durationSecs: 1 };
    expect(rateOf(near)).toBe('10 requests/s, 10 % of the 100 possible');
  });
});

describe('requests that the figures leave out', () => {
  const line = (changes: Partial<Summary>) =>
    printSummary(summaryOf({ unrecorded: 37, ...changes }), { color: false, columns: 120 }).split('\n')[2];
  const worker = { id: 'a', requests: 1, records: 1 };

  test('are told, and why', () => {
    const told = 'Rate, latency, statuses and hosts leave out 37 requests: ';
    expect(line({ state: 'interrupted' })).toBe(`${told}their record died with a killed process.`);
    expect(line({ state: 'running' })).toBe(`${told}their record is written every few seconds.`);
    expect(line({ workers: [worker, { ...worker, id: 'b' }] })).toBe(`${told}they are those of one worker.`);
    expect(line({ workers: [worker], unrecorded: 1 })).toBe(
      'Rate, latency, statuses and hosts leave out 1 request: their record died with a killed process.',
    );
  });

  test('take no line where there are none', () => {
    expect(line({ unrecorded: undefined })).toMatch(/^ {2}Requests /);
  });

  test('are all there is to tell of a run that was killed before anything was recorded: no duration, no rate', () => {
    const text = printSummary(summaryOf({ state: 'interrupted', unrecorded: 2_000, requestsPerSecond: null }), {
      color: false,
    });
    expect(text).toMatch(/^Run practice interrupted\n/);
    expect(text).not.toContain('Rate  ');
  });
});

test('parked and given-up hosts, and what would make it faster', () => {
  const text = printSummary(
    summaryOf({
      hosts: {
        a: { ...HOST, parkedUntil: '2026-01-01T00:05:00.000Z' },
        b: { ...HOST, requests: 1, givenUp: 'no progress for 900 s' },
      },
      diagnosis: [{ bottleneck: 'rate limit of a', share: 0.7, evidence: 'Held back 70 %.', advice: 'Ask for more.' }],
    }),
    { color: false },
  );
  expect(text).toContain('    parked until 2026-01-01T00:05:00.000Z\n');
  expect(text).toContain('    given up: no progress for 900 s\n');
  expect(text).toContain('What would make it faster\n   70 %  rate limit of a\n         Held back 70 %. Ask for more.');
});

test.each([80, 100])('nothing is wider than %i columns, coloured or not, whatever the names', (columns) => {
  const hosts = Object.fromEntries(
    Array.from({ length: 15 }, (_, index) => [`${'very-long-name.'.repeat(6)}${index}`, HOST]),
  );
  const records = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`dataset-number-${index}`, 5]));
  const failures = Array.from({ length: 20 }, () => summaryOf().failures[0] as Summary['failures'][number]);
  for (const color of [true, false]) {
    const text = printSummary(summaryOf({ hosts, records, failures }), { color, columns });
    expect(Math.max(...text.split('\n').map(widthOf))).toBeLessThanOrEqual(columns);
    expect(text).toContain('dataset-number-29 5');
    expect(text).toContain('and 5 more hosts');
    expect(text).toContain('and 12 more kinds');
  }
});
