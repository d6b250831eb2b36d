import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { KeySnapshot } from '../../../src/core/key-snapshot.ts';
import { noTime } from '../../../src/core/timings.ts';
import type { MetricsSource } from '../../../src/measure/metrics/metrics-source.ts';
import { type MetricsServer, serveMetrics } from '../../../src/measure/metrics/serve-metrics.ts';
import { HostRecord } from '../../../src/report/host-record.ts';

const open: MetricsServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

function record(attempts: { status: number | null; firstByteMs: number; limited?: boolean }[]): HostRecord {
  const host = new HostRecord();
  for (const { status, firstByteMs, limited = false } of attempts)
    host.add({
      host: 'x',
      status,
      failure: status === null ? 'TIMEOUT_CONNECT' : null,
      timings: { ...noTime(), firstByte: firstByteMs },
      reused: true,
      httpVersion: '1.1',
      limited,
    });
  return host;
}

const SNAPSHOT: KeySnapshot = {
  key: 'a.example',
  host: 'a.example',
  inFlight: 3,
  concurrency: 12,
  requestsPerSecond: 40,
  limitRps: 50,
  limitSource: 'discovered',
  parkedUntilMs: null,
  parkedReason: null,
  givenUp: null,
  rateLimited: 1,
};

async function started(
  changes: Partial<MetricsSource> = {},
): Promise<{ text: (path: string) => Promise<string>; status: (path: string) => Promise<number> }> {
  const source: MetricsSource = {
    hosts: () =>
      new Map([
        [
          'a.example',
          record([
            { status: 200, firstByteMs: 20 },
            { status: 200, firstByteMs: 80 },
            { status: 429, firstByteMs: 5, limited: true },
            { status: null, firstByteMs: 0 },
          ]),
        ],
        ['b"\\.example', record([{ status: 404, firstByteMs: 3 }])],
      ]),
    snapshots: () => [SNAPSHOT],
    queue: () => ({ pending: 7, succeeded: 2, failed: 1, skipped: 0 }),
    leased: () => 5,
    backlog: () => 4,
    connections: () => ({ opened: 9, requests: 20, http2Requests: 0, waiting: 2 }),
    isReady: () => true,
    ...changes,
  };
  const server = await serveMetrics(source, 0);
  open.push(server);
  const get = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
  return { text: async (path) => (await get(path)).text(), status: async (path) => (await get(path)).status };
}

test('tells requests by host and status, limits, queue and connections', async () => {
  const lines = (await (await started()).text('/metrics')).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'millrace_requests_total{host="a.example",status="200"} 2',
      'millrace_requests_total{host="a.example",status="429"} 1',
      'millrace_requests_total{host="a.example",status="none"} 1',
      'millrace_network_failures_total{host="a.example",code="TIMEOUT_CONNECT"} 1',
      'millrace_rejections_total{host="a.example"} 1',
      'millrace_in_flight{host="a.example"} 3',
      'millrace_concurrency_limit{host="a.example"} 12',
      'millrace_rate_limit{host="a.example",source="discovered"} 50',
      'millrace_parked{host="a.example"} 0',
      'millrace_queue{state="pending"} 7',
      'millrace_queue_leased 5',
      'millrace_store_backlog 4',
      'millrace_connections_opened_total 9',
      'millrace_connections_waiting 2',
    ]),
  );
  expect(lines.some((line) => line.startsWith('nodejs_eventloop_lag_p99_seconds '))).toBe(true);
});

test('has the latencies as a histogram, without the rejections', async () => {
  const lines = (await (await started()).text('/metrics')).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      '# TYPE millrace_request_duration_seconds histogram',
      'millrace_request_duration_seconds_bucket{host="a.example",le="0.01"} 0',
      'millrace_request_duration_seconds_bucket{host="a.example",le="0.025"} 1',
      'millrace_request_duration_seconds_bucket{host="a.example",le="0.1"} 2',
      'millrace_request_duration_seconds_bucket{host="a.example",le="+Inf"} 2',
      'millrace_request_duration_seconds_sum{host="a.example"} 0.1',
      'millrace_request_duration_seconds_count{host="a.example"} 2',
      'millrace_request_duration_seconds_count{host="b\\"\\\\.example"} 1',
    ]),
  );
});

test('every line is one that Prometheus reads, and a second scrape counts nothing twice', async () => {
  const { text } = await started();
  await text('/metrics');
  const lines = (await text('/metrics')).split('\n').filter((line) => line !== '');
  expect(lines).toContain('millrace_requests_total{host="a.example",status="200"} 2');
  const sample = /^[a-z_][a-z0-9_]*(\{([a-z_]+="([^"\\]|\\.)*",?)*\})? -?([0-9.e+-]+|NaN|Infinity)$/i;
  expect(lines.filter((line) => !line.startsWith('#') && !sample.test(line))).toEqual([]);
});

test('hosts beyond the first hundred are added up', async () => {
  const hosts = new Map(
    Array.from({ length: 150 }, (_, index) => [`h${index}.example`, record([{ status: 200, firstByteMs: 10 }])]),
  );
  const text = await (await started({ hosts: () => hosts })).text('/metrics');
  expect(text).toContain('millrace_requests_total{host="(other hosts)",status="200"} 50');
  expect(text.match(/^millrace_requests_total/gm)).toHaveLength(101);
  expect(text).toContain('millrace_request_duration_seconds_count{host="(other hosts)"} 50');
});

test('health is told while the process answers, readiness while it takes up requests', async () => {
  let isReady = false;
  const { status } = await started({ isReady: () => isReady });
  expect([await status('/healthz'), await status('/readyz'), await status('/other')]).toEqual([200, 503, 404]);
  isReady = true;
  expect(await status('/readyz')).toBe(200);
});

test('a port in use is named', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, resolve));
  const address = blocker.address();
  const port = typeof address === 'object' ? address!.port : 0;
  await expect(serveMetrics({} as MetricsSource, port)).rejects.toThrow(`--metrics-port ${port} cannot be listened on`);
  await new Promise((resolve) => blocker.close(resolve));
});
