import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { inputSchema } from '../../../src/config/input-schema.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { hostSettings, hostsBlock } from '../../../src/measure/ramp/hosts-block.ts';
import { announcement, printRamp } from '../../../src/measure/ramp/print-ramp.ts';
import type { RampResult } from '../../../src/measure/ramp/ramp-report.ts';
import { runRamp } from '../../../src/measure/ramp/run-ramp.ts';
import { serve } from '../../fixtures/servers/serve.ts';
import { limitByTokenBucket } from '../../fixtures/servers/token-bucket-server.ts';
import { clientsThatTrust, targetOf } from '../support/probing.ts';

const RESULT: RampResult = {
  kind: 'rate',
  shownBy: 'refusals',
  limitRps: 20,
  rangeRps: { least: 19, most: 21 },
  concurrency: null,
  windowMs: null,
  reason: 'the limit was found, and 80 % of it were tried',
  isVerified: true,
  requests: 1_000,
  refused: 2,
  fastestRps: 25,
  baseLatencyMs: 100,
  points: [
    { second: 0, sent: 10, good: 10, refused: 0, p50Ms: 100 },
    { second: 1, sent: 20, good: 18, refused: 2, p50Ms: 110 },
  ],
};

test('a ramp over real sockets finds what a server states, and stops', async () => {
  const server = await serve(limitByTokenBucket({ requestsPerSecond: 1, burst: 100, stated: true }));
  const client = clientsThatTrust()();
  try {
    const result = await runRamp({
      target: targetOf(server.url),
      client,
      clock: systemClock,
      maxRate: 50,
      signal: new AbortController().signal,
      onProgress: () => {},
    });
    expect(result).toMatchObject({ kind: 'rate', shownBy: 'headers', limitRps: 1, refused: 0 });
    expect(server.stats().requests).toBe(result.requests);
  } finally {
    await client.close();
    await server.close();
  }
});

test('a ramp ends with the signal', async () => {
  const server = await serve(() => ({ status: 200, body: '{}' }));
  const client = clientsThatTrust()();
  const controller = new AbortController();
  const running = runRamp({
    target: targetOf(server.url),
    client,
    clock: systemClock,
    maxRate: 50,
    signal: controller.signal,
    onProgress: () => controller.abort(new Error('enough')),
  });
  await expect(running).rejects.toThrow('enough');
  await client.close();
  await server.close();
});

test('the hosts block holds at 80 %, and is one that an input document may have', () => {
  const settings = hostSettings(RESULT)!;
  expect(settings).toEqual({ requestsPerSecond: 16, maxConcurrency: 4 });
  const text = hostsBlock('api.example.com:8443', settings);
  expect(text).toBe('hosts:\n  "api.example.com:8443":\n    requestsPerSecond: 16\n    maxConcurrency: 4');
  expect(inputSchema.parse(parse(text)).hosts).toEqual({ 'api.example.com:8443': settings });
});

test('of a limit of requests at once, four fifths are taken', () => {
  expect(hostSettings({ ...RESULT, kind: 'concurrency', limitRps: null, concurrency: 10 })).toEqual({
    maxConcurrency: 8,
  });
  expect(hostSettings({ ...RESULT, kind: 'none found', limitRps: null })).toBeNull();
});

test('it says beforehand what it will do, and how much at most', () => {
  expect(announcement('https://api.example.com/items/1', 50)).toContain('At most 4,500 requests');
});

test('what was found is plotted and told', () => {
  const text = printRamp('https://api.example.com/items/1', RESULT, { color: false });
  expect(text.split('\n').slice(0, 3)).toEqual([
    ' second   sent/s   good/s       p50',
    `      0       10       10    100 ms  ${'█'.repeat(20)}`,
    `      1       20       18    110 ms  ${'█'.repeat(36)}▒▒▒▒`,
  ]);
  expect(text).toContain('20 requests/s (between 19 and 21), by refusals');
  expect(text).toContain('What holds, at 80 % of it (tried: nothing was refused):');
});
