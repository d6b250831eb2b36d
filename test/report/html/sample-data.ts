import type { KeySnapshot } from '../../../src/core/key-snapshot.ts';
import { noTime } from '../../../src/core/timings.ts';
import { type DatasetProfile, profileDataset } from '../../../src/report/dataset-profile.ts';
import { buildReportData, type ReportData } from '../../../src/report/html/report-data.ts';
import { createRecorder, type Recorder } from '../../../src/report/recorder.ts';
import { buildSummary } from '../../../src/report/summary.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

/** What a hostile API might send where the page shows text. */
export const HOSTILE =
  '</script><script>globalThis.wasRun = true</script><img src=x onerror="globalThis.wasRun=true">\'"&';

const HOSTS = ['api.example.com', 'catalogue.shop.example.org', 'slow.example.net:8443'] as const;

/** Pseudo-random numbers that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** The data of a crawl of three hosts over `minutes`: a limit found, a host parked, failures, a schema. */
export async function sampleData({ minutes = 12, hosts = 3, extra = false } = {}): Promise<ReportData> {
  const clock = new FakeClock();
  const recorder = createRecorder({ ports: { clock }, run: extra ? `run ${HOSTILE}` : 'products' });
  const random = seeded(7);
  let total = 0;
  for (let second = 0; second < minutes * 60; second++) {
    const names = HOSTS.slice(0, hosts);
    for (const [index, host] of names.entries())
      total += simulateSecond(recorder, { host, index, second, random, minutes });
    recorder.tick({ snapshots: names.map((host, index) => snapshot(host, index, second)), maxConcurrency: 100 });
    if (second % 120 === 60) addEvents(recorder, clock, second);
    await clock.advance(1_000);
  }
  return buildReportData({
    summary: buildSummary({
      recorder: recorder.toState(),
      state: 'incomplete',
      queue: countsOf(recorder, { skipped: 10, pending: 500 }),
      datasets: [
        { name: 'products', count: total },
        { name: 'invalid', count: 12 },
        { name: 'failures', count: 30 },
      ],
      snapshots: HOSTS.slice(0, hosts).map((host, index) => snapshot(host, index, minutes * 60)),
      maxConcurrency: 100,
      hostConcurrency: () => 50,
      skipReasons: { robots: 10 },
      completeness: [
        { resource: 'products', declared: 12_000, fetched: 11_990, duplicates: 2, gaps: 1, suspectedShifts: 1 },
        { resource: 'reviews', declared: null, fetched: 410, duplicates: 0, gaps: 0, suspectedShifts: 0 },
      ],
      diagnosis: [
        {
          bottleneck: 'rate limit of api.example.com',
          share: 0.58,
          evidence: 'Requests waited 58 % of their time for its limit of 80 requests/s, found at 2:01.',
          advice:
            'Ask its operator for more, or add credentials (hosts."catalogue.shop.example.org".sessionPool.credentials).',
        },
        {
          bottleneck: 'distance to slow.example.net:8443',
          share: 0.21,
          evidence: 'Its round trip takes 92 ms, of a first byte after 110 ms.',
          advice: 'Run the crawl nearer to it: compare regions with `probe --save` and `probe --compare`.',
        },
      ],
      exports: ['storage/runs/products/exports/products.csv', 'storage/runs/products/exports/products.json'],
    }),
    recorder: recorder.toState(),
    datasets: [await sampleProfile(extra)],
    config: {
      maxConcurrency: 100,
      headers: { authorization: 'Bearer s3cret' },
      hosts: { 'api.example.com': { requestsPerSecond: 80, note: extra ? HOSTILE : undefined } },
    },
    writtenAtMs: clock.wallMs(),
  });
}

/** What the store would have counted of what the recorder was told. */
function countsOf(recorder: Recorder, { skipped, pending }: { skipped: number; pending: number }) {
  const records = [...recorder.hosts().values()];
  const succeeded = records.reduce((sum, record) => sum + record.succeeded, 0);
  const failed = records.reduce((sum, record) => sum + record.failed, 0);
  return { total: succeeded + failed + skipped + pending, succeeded, failed, skipped, pending };
}

type Second = { host: string; index: number; second: number; random: () => number; minutes: number };

function simulateSecond(recorder: Recorder, { host, index, second, random, minutes }: Second): number {
  const isParked = index === 2 && second % 240 > 180;
  const limit = [80, 40, 15][index] as number;
  const count = isParked ? 0 : Math.round(Math.min(limit, second * 2) * (0.9 + random() * 0.1));
  const slow = second > minutes * 40 ? 2 : 1;
  for (let n = 0; n < count; n++) {
    const isLimited = random() < 0.01;
    const isFailed = random() < 0.002;
    const isFresh = random() < 0.05;
    const firstByte = ([12, 35, 110][index] as number) * slow * (0.8 + random() ** 4 * 3);
    recorder.attempt({
      host,
      status: isLimited ? 429 : isFailed ? 404 : 200,
      failure: null,
      timings: {
        ...noTime(),
        politeness: index === 0 ? 400 : 30,
        queue: 3,
        connect: isFresh ? ([4, 20, 92][index] as number) : 0,
        tls: isFresh ? 25 : 0,
        firstByte,
        download: 2,
        parse: 0.3,
        handler: 0.4,
        commit: 1.5,
      },
      reused: !isFresh,
      httpVersion: index === 1 ? '2' : '1.1',
      limited: isLimited,
    });
    if (isLimited) continue;
    recorder.handled({
      host,
      result: isFailed ? 'failed' : 'succeeded',
      code: isFailed ? 'HTTP_404' : null,
      url: `https://${host}/v1/items/${second * 100 + n}?api_key=s3cret`,
    });
  }
  return count;
}

function snapshot(host: string, index: number, second: number): KeySnapshot {
  const isFound = second > 121;
  return {
    key: host,
    host,
    inFlight: 8,
    concurrency: 20,
    requestsPerSecond: null,
    limitRps: index === 1 ? 40 : isFound && index === 0 ? 80 : null,
    limitSource: index === 1 ? 'stated' : isFound && index === 0 ? 'discovered' : null,
    parkedUntilMs: index === 2 && second % 240 > 180 ? Date.UTC(2026, 0, 1, 1) : null,
    parkedReason: null,
    givenUp: null,
    rateLimited: 0,
  };
}

function addEvents(recorder: Recorder, clock: FakeClock, second: number): void {
  recorder.event({
    atMs: clock.wallMs(),
    kind: 'limit-changed',
    host: HOSTS[0],
    reason: 'It rejected 3 of 85 requests/s: now paced at 80/s.',
  });
  if (second % 240 === 180)
    recorder.event({
      atMs: clock.wallMs(),
      kind: 'parked',
      host: HOSTS[2],
      reason: 'It asked to wait 60 s (Retry-After).',
    });
}

async function sampleProfile(extra: boolean): Promise<DatasetProfile> {
  const records = Array.from({ length: 100 }, (_, id) => ({
    id,
    name: extra ? HOSTILE : `Item ${id}`,
    price: id / 4,
    brand: id % 10 === 0 ? null : { name: 'x', since: '2020-01-01' },
    tags: ['a', 'b'],
    ...(id % 4 === 0 && { note: 'sometimes' }),
    ...(extra && { [HOSTILE]: 1 }),
  }));
  const rows = async function* () {
    yield records.map((record) => ({ json: JSON.stringify(record) }));
  };
  return profileDataset({ name: 'products', count: 54_321 }, rows());
}
