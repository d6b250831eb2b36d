import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Summary } from '../../../src/core/summary.ts';
import { urlList, Workplace } from '../../e2e/millrace.ts';
import { createAuthority } from '../../fixtures/servers/certificates.ts';
import { Bottleneck } from '../support/bottleneck.ts';
import type { BottleneckSpec } from '../support/bottleneck-server.ts';
import { advised, finding } from './scenario.ts';

vi.setConfig({ testTimeout: 120_000 });

type Crawl = {
  count: number;
  args?: readonly string[];
  document?: (server: Bottleneck) => string;
  hasSlowStore?: boolean;
};

function holdLock(file: string): ChildProcessByStdio<Writable, null, null> {
  const script = fileURLToPath(new URL('../support/lock-holder.ts', import.meta.url));
  return spawn(process.execPath, [script, file], { stdio: ['pipe', 'ignore', 'inherit'] });
}

// So long that a machine which others use as well makes no difference to it.
const PATIENT_MS = 400;
const EIGHT_SLOTS = ['--no-discovery', '--max-concurrency-per-host', '8'];
const FEW_SLOTS = ['--no-discovery', '--max-concurrency-per-host', '4'];

/** Each rule against a server built to be that bottleneck, and one that is nearly it. */
describe('a crawl whose bottleneck is', () => {
  const authority = createAuthority();
  const tls = authority.issue(['127.0.0.1']);
  let place: Workplace;
  let server: Bottleneck | null = null;

  beforeAll(async () => {
    place = await Workplace.open();
    await place.write('ca.pem', authority.cert);
  });
  afterEach(() => server?.close());
  afterAll(() => place.remove());

  /** Crawls `count` URLs of such a server, as the rest of an input document and arguments say. */
  async function crawled(
    spec: BottleneckSpec,
    { count, args = [], document = () => '', hasSlowStore }: Crawl,
  ): Promise<Summary> {
    server = await Bottleneck.start(spec);
    await place.write('urls.txt', urlList(server.origin, count));
    const input = await place.write('crawl.yaml', `${count > 0 ? 'urlsFile: urls.txt\n' : ''}${document(server)}`);
    const crawl = place.start([input, '--fresh', '--quiet', '--json', ...args], {
      NODE_EXTRA_CA_CERTS: join(place.folder, 'ca.pem'),
    });
    const holder = hasSlowStore ? holdLock(join(place.storage, 'runs/slow/run.sqlite')) : null;
    const { code, stdout, stderr } = await crawl.finished;
    holder?.stdin.end();
    expect(code, stderr).toBe(0);
    const summary = JSON.parse(stdout) as Summary;
    const shares = summary.diagnosis!.map(({ share }) => share);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 6);
    return summary;
  }

  describe('a server that does one thing at a time', () => {
    test('is told so, and not to ask for more at once', async () => {
      const { diagnosis } = await crawled({ workMs: 200 }, { count: 50, args: EIGHT_SLOTS });
      // By whoever sees it first: the diagnosis by its latencies, or the governor, which then asks for less at once.
      const evidence = diagnosis!.map((one) => one.evidence).join(' ');
      expect(evidence).toMatch(/it slows under this load|in flight only made \S+ slower/);
      expect(advised(diagnosis)).toEqual([]);
    });

    // Its robots.txt, which comes at once, must not make it seem slow.
    test('is not where it does as many as it is asked for', async () => {
      const { diagnosis } = await crawled({ latencyMs: PATIENT_MS }, { count: 60, args: FEW_SLOTS });
      expect(finding(diagnosis, 'server time')).toBeUndefined();
      expect(finding(diagnosis, 'concurrency')?.share).toBeGreaterThan(0.6);
      expect(advised(diagnosis)).toEqual(['concurrency']);
    });
  });

  describe('the time that bodies take', () => {
    test('is told so, with nothing to set', async () => {
      const { diagnosis } = await crawled({ downloadMs: 300 }, { count: 60, args: FEW_SLOTS });
      expect(finding(diagnosis, 'download')?.evidence).toMatch(/^Reading a body from 127\.0\.0\.1:\d+ takes \d+ ms/);
      expect(advised(diagnosis)).toEqual([]);
    });

    test('is not where the first byte takes the time', async () => {
      const { diagnosis } = await crawled({ latencyMs: PATIENT_MS, bodyBytes: 20_000 }, { count: 60, args: FEW_SLOTS });
      expect(diagnosis?.some(({ evidence }) => evidence.startsWith('Reading a body'))).toBe(false);
      expect(advised(diagnosis)).toEqual(['concurrency']);
    });
  });

  describe('a rule of robots.txt', () => {
    const spec = { latencyMs: 5, crawlDelaySecs: 0.2 };

    test('is told of Crawl-delay', async () => {
      const { diagnosis } = await crawled(spec, { count: 30, args: FEW_SLOTS });
      expect(finding(diagnosis, 'rate limit')?.evidence).toContain('Crawl-delay');
      expect(advised(diagnosis)).toEqual(['rate limit']);
    });

    test('is not where robots.txt is not asked for', async () => {
      const { diagnosis } = await crawled(
        { ...spec, latencyMs: PATIENT_MS },
        { count: 60, args: [...FEW_SLOTS, '--ignore-robots'] },
      );
      expect(advised(diagnosis)).toEqual(['concurrency']);
    });
  });

  describe('our own ceiling over all hosts', () => {
    const few = { count: 60, args: [...FEW_SLOTS, '--ignore-robots'] };

    test('is told which setting that is', async () => {
      const { diagnosis } = await crawled(
        { latencyMs: 5 },
        { ...few, args: [...few.args, '--max-requests-per-minute', '900'] },
      );
      expect(finding(diagnosis, 'rate limit')?.evidence).toContain('maxRequestsPerMinute (900)');
      expect(advised(diagnosis)).toEqual(['rate limit']);
    });

    test('is not where it is far above what the slots can do', async () => {
      const args = [...few.args, '--max-requests-per-minute', '60000'];
      const { diagnosis } = await crawled({ latencyMs: PATIENT_MS }, { count: 60, args });
      expect(advised(diagnosis)).toEqual(['concurrency']);
    });
  });

  describe('a host that was left alone', () => {
    const args = [...FEW_SLOTS, '--ignore-robots', '--max-retries', '20'];

    test('is told that it asked for it', async () => {
      const { diagnosis } = await crawled(
        { latencyMs: 20, rest: { afterRequests: 40, forSecs: 4 } },
        { count: 80, args },
      );
      const evidence = diagnosis
        ?.filter(({ bottleneck }) => bottleneck === 'rate limit')
        .map((found) => found.evidence);
      expect(evidence).toContainEqual(
        expect.stringMatching(/was left alone for \d+ % of the slot-time after \d+ x 429/),
      );
      expect(new Set(advised(diagnosis))).toEqual(new Set(['rate limit']));
    });

    test('is told that it was out of order', async () => {
      const { diagnosis } = await crawled(
        { latencyMs: 20, outage: { afterRequests: 40, forMs: 4_000 } },
        { count: 80, args },
      );
      expect(finding(diagnosis, 'host out of order')?.evidence).toMatch(/CONNECTION_RESET/);
      expect(finding(diagnosis, 'rate limit')).toBeUndefined();
      expect(advised(diagnosis)).not.toContain('concurrency');
    });
  });

  describe('the search for a limit', () => {
    test('is told that it ended before that did', async () => {
      const { diagnosis } = await crawled({ latencyMs: 100 }, { count: 150, args: ['--ignore-robots'] });
      expect(finding(diagnosis, 'search for the limit')?.advice).toContain('--no-discovery');
      expect(advised(diagnosis)).toEqual(['search for the limit']);
    });

    test('is not where nothing was searched for', async () => {
      const args = ['--ignore-robots', '--no-discovery'];
      const { diagnosis } = await crawled({ latencyMs: 400 }, { count: 300, args });
      expect(finding(diagnosis, 'search for the limit')).toBeUndefined();
    });
  });

  describe('HTTP/2', () => {
    const args = ['--no-discovery', '--ignore-robots', '--max-concurrency-per-host', '20'];

    test('is told that requests wait for streams, and not to let more of them wait', async () => {
      const { diagnosis } = await crawled({ latencyMs: 60, tls, streams: 1 }, { count: 200, args });
      expect(finding(diagnosis, 'HTTP version')?.advice).toContain('Turn HTTP/2 off');
      expect(advised(diagnosis)).toEqual(['HTTP version']);
    });

    test('is not where the server has streams for all', async () => {
      const { diagnosis } = await crawled({ latencyMs: PATIENT_MS, tls, streams: 100 }, { count: 300, args });
      expect(finding(diagnosis, 'HTTP version')).toBeUndefined();
      expect(advised(diagnosis)).toEqual(['concurrency']);
    });
  });

  describe('fresh handshakes of proxies', () => {
    // One for each request, so that none finds a connection of its own kept; each takes 100 ms to let anybody through.
    const PROXIES = 200;
    const spec = { latencyMs: 5, tls, proxies: true, tunnelMs: 100 };
    const proxied = (rotation: string) => {
      const urls = ({ proxyPort }: Bottleneck): string[] =>
        Array.from({ length: PROXIES }, (_, user) => `http://user${user}@127.0.0.1:${proxyPort}`);
      return (to: Bottleneck): string =>
        JSON.stringify({
          robots: 'ignore',
          discovery: 'off',
          maxConcurrency: 4,
          sessionPool: { rotation, maxPoolSize: PROXIES, proxyUrls: urls(to) },
        });
    };
    const document = (rotation: string) => (to: Bottleneck) => `hosts: {default: ${proxied(rotation)(to)}}\n`;

    test('is told that they change with each request', async () => {
      const { diagnosis } = await crawled(spec, { count: PROXIES, document: document('perRequest') });
      const found = finding(diagnosis, 'fresh handshakes');
      expect(found?.share).toBeGreaterThan(0.5);
      expect(found?.evidence).toMatch(/^100 % of the requests to 127\.0\.0\.1:\d+ opened a connection, at \d+ ms each/);
      expect(found?.advice).toContain('sessionPool.rotation: perSession');
      expect(advised(diagnosis)).toEqual(['fresh handshakes']);
    });

    test('is not where each is used again and again', async () => {
      const slower = { ...spec, latencyMs: 60 };
      const { diagnosis } = await crawled(slower, { count: PROXIES, document: document('perSession') });
      expect(finding(diagnosis, 'fresh handshakes')).toBeUndefined();
    });
  });

  describe('this side', () => {
    test('is told that parsing keeps it busy', async () => {
      const { diagnosis } = await crawled({ objects: 12_000 }, { count: 80, args: [...FEW_SLOTS, '--no-export'] });
      expect(finding(diagnosis, 'parse / handler')?.evidence).toMatch(/^Parsing a body takes/);
      expect(advised(diagnosis)).not.toContain('concurrency');
    });

    test('is told that the process is busy, and neither to move nor to ask for more', async () => {
      const { diagnosis } = await crawled({}, { count: 6_000, args: ['--no-discovery', '--ignore-robots'] });
      expect(finding(diagnosis, 'own process')?.evidence).toContain('one core is used up');
      expect(advised(diagnosis)).not.toContain('distance');
      expect(advised(diagnosis)).not.toContain('concurrency');
    });

    const stored = { count: 4_000, args: ['--no-discovery', '--ignore-robots', '--run', 'slow'] };

    test('is told that the store is slow, and not that the server is', async () => {
      const { diagnosis, hosts } = await crawled({}, { ...stored, hasSlowStore: true });
      const found = finding(diagnosis, 'storage');
      expect(found?.share).toBeGreaterThan(0.3);
      expect(found?.evidence).toMatch(/results waited to be stored/);
      expect(advised(diagnosis)).toContain('storage');
      // Nor does the governor take the pauses for the server's.
      expect(finding(diagnosis, "the server's own limit")).toBeUndefined();
      expect(Object.values(hosts)[0]?.concurrency).toBe(50);
    });

    test('is not where it stores as fast as answers come', async () => {
      const { diagnosis } = await crawled({ latencyMs: 100 }, stored);
      expect(finding(diagnosis, 'storage')?.advice ?? '').toBe('');
      expect(advised(diagnosis)).not.toContain('storage');
    });
  });

  describe('an empty queue', () => {
    const list =
      (endpoint: string) =>
      ({ origin }: Bottleneck): string =>
        JSON.stringify({
          hosts: { default: { robots: 'ignore', maxConcurrency: 4, discovery: 'off' } },
          api: {
            baseUrl: origin,
            resources: [{ name: 'rows', endpoint: { path: endpoint, dataSelector: '$.items[*]' } }],
          },
        });

    test('is told that each page led to the next', async () => {
      const { diagnosis } = await crawled({ latencyMs: 150, pages: 40 }, { count: 0, document: list('/pages/1') });
      expect(finding(diagnosis, 'empty queue')?.advice).toContain('parallelPages');
      expect(advised(diagnosis)).toEqual(['empty queue']);
    });
  });
});
