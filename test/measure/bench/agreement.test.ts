import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import type { BenchSetting } from '../../../src/measure/bench/bench-report.ts';
import { printBench } from '../../../src/measure/bench/print-bench.ts';
import { compareBenches, runBench } from '../../../src/measure/bench/run-bench.ts';
import { describeMachine } from '../../../src/measure/common/machine.ts';
import { createAuthority } from '../../fixtures/servers/certificates.ts';
import { serveInProcess } from '../../fixtures/servers/in-process.ts';
import { type Respond, serve } from '../../fixtures/servers/serve.ts';
import { clientsThatTrust, targetOf } from '../support/probing.ts';

const SETTING: BenchSetting = {
  requests: 400,
  warmup: 40,
  concurrency: 10,
  rate: null,
  http2: 'auto',
  httpClient: 'undici',
};
// The machine is shared: the best of several runs each counts, and more are made until they agree.
const MOST_ROUNDS = 6;
const TIMEOUT_MS = 90_000;

const noWrk = process.env.CI === 'true' ? null : whyNoWrk();

function whyNoWrk(): string | null {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' });
    return null;
  } catch (error) {
    // Its -v ends with 1.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'wrk is not installed' : null;
  }
}

const options = (url: string, ca?: string) => ({
  target: targetOf(url),
  clock: systemClock,
  openClient: () => clientsThatTrust(ca)({ maxConnectionsPerOrigin: 100 }),
  signal: new AbortController().signal,
});

async function wrkRps(url: string): Promise<number> {
  const { stdout } = await promisify(execFile)('wrk', ['-t1', '-c10', '-d2s', url]);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
}

/** Lets 200 a second through, evenly, by holding the others back. */
function cappedAt(requestsPerSecond: number): Respond {
  let nextMs = 0;
  return ({ atMs }) => {
    nextMs = Math.max(nextMs + 1_000 / requestsPerSecond, atMs);
    return { status: 200, body: '{}', afterMs: nextMs - atMs };
  };
}

describe.skipIf(noWrk !== null)(`bench${noWrk === null ? '' : ` (${noWrk})`}`, () => {
  test(
    'agrees with wrk within 10 % on a server that lets 200 requests a second through',
    async () => {
      const server = await serve(cappedAt(200));
      try {
        await expectAgreement(server.url);
      } finally {
        await server.close();
      }
    },
    TIMEOUT_MS,
  );

  test(
    'agrees with wrk within 10 % on a server that takes 20 ms a request',
    async () => {
      const server = await serveInProcess({ json: { latencyMs: 20, bodyBytes: 1_000 } });
      try {
        await expectAgreement(`${server.url}/items/1`);
      } finally {
        await server.close();
      }
    },
    TIMEOUT_MS,
  );
});

async function expectAgreement(url: string): Promise<void> {
  let ours = 0;
  let wrks = 0;
  for (let round = 1; ; round++) {
    ours = Math.max(ours, (await runBench(SETTING, options(url))).results[0]!.requestsPerSecond);
    wrks = Math.max(wrks, await wrkRps(url));
    if (Math.abs(ours - wrks) <= 0.1 * wrks) return;
    if (round === MOST_ROUNDS) expect.fail(`${ours} requests/s, by wrk ${wrks}`);
  }
}

const REPORT = {
  kind: 'millrace bench',
  version: 1,
  madeAt: '2026-01-01T00:00:00.000Z',
  machine: describeMachine({}, '0.0.0'),
  targetRegion: null,
  comparison: null,
} as const;

test('a bench tells what it saw, beside what would be possible', async () => {
  const server = await serve(({ path }) => ({ status: 200, body: JSON.stringify({ path }), afterMs: 20 }));
  try {
    const { results, headers } = await runBench(SETTING, options(`${server.url}/a`));
    const [result] = results;
    expect(result).toMatchObject({
      connectionsOpened: 10,
      httpVersion: '1.1',
      statusCodes: { 200: 400 },
      failures: {},
      bodyBytes: 400 * 13,
      wireBytes: 400 * 13,
      meanBodyBytes: 13,
    });
    expect(result!.theoreticalRps).toBeCloseTo(10_000 / result!.baseLatencyMs!, 6);
    expect(result!.achievedShare).toBeCloseTo(result!.requestsPerSecond / result!.theoreticalRps!, 6);
    expect(result!.latencyMs.p50).toBeGreaterThanOrEqual(19);
    expect(headers?.['content-type']).toBe('application/json');
    const report = { ...REPORT, url: server.url, results };
    expect(printBench(report, { color: false })).toMatch(
      /Rate +\d\S* requests\/s, \d+ % of the theoretical maximum \(concurrency \/ latency\), \d\S*\/s$/m,
    );
    const paced = results.map((one) => ({ ...one, setting: { ...one.setting, rate: 500 } }));
    expect(printBench({ ...report, results: paced }, { color: false })).toMatch(
      /Rate .* % of the theoretical maximum \(the rate asked for\), /,
    );
    // 10 to look at it unloaded, 40 to warm up, 400 that count.
    expect(server.stats().requests).toBe(450);
  } finally {
    await server.close();
  }
});

test('two settings are measured in turns, each over its own connections', async () => {
  const authority = createAuthority();
  const certificate = authority.issue(['127.0.0.1']);
  const server = await serve(() => ({ status: 200, body: '{}', afterMs: 10 }), { protocol: 'http2', certificate });
  try {
    const settings = [
      { ...SETTING, requests: 100, http2: 'off' },
      { ...SETTING, requests: 100 },
    ] satisfies [BenchSetting, BenchSetting];
    const { results, comparison } = await compareBenches(settings, options(server.url, authority.cert));
    expect(results.map(({ httpVersion, statusCodes }) => [httpVersion, statusCodes])).toEqual([
      ['1.1', { 200: 100 }],
      ['2', { 200: 100 }],
    ]);
    expect(results[0]!.connectionsOpened).toBe(10);
    expect(results[1]!.connectionsOpened).toBeLessThanOrEqual(4);
    expect(comparison?.rounds).toBe(5);
    expect(comparison!.leastRatio).toBeLessThanOrEqual(comparison!.rateRatio);
    expect(comparison!.mostRatio).toBeGreaterThanOrEqual(comparison!.rateRatio);
  } finally {
    await server.close();
  }
});

test('an open load says when the server does not keep up', async () => {
  const server = await serve(cappedAt(50));
  try {
    const setting = { ...SETTING, requests: 150, warmup: 0, rate: 150 };
    const [result] = (await runBench(setting, options(server.url))).results;
    expect(result!.theoreticalRps).toBe(150);
    expect(result!.achievedShare).toBeLessThan(0.5);
    expect(result!.latencyMs.max).toBeGreaterThan(1_500);
  } finally {
    await server.close();
  }
});
