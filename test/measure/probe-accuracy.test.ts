import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PhaseTimes, ProbeReport, UrlProbe } from '../../src/measure/probe/probe-report.ts';
import { probeUrl } from '../../src/measure/probe/probe-url.ts';
import { createAuthority } from '../fixtures/servers/certificates.ts';
import { serveInProcess } from '../fixtures/servers/in-process.ts';
import { startDelayingRelay } from './support/delaying-relay.ts';
import { FarNetwork, whyNotFar } from './support/far-network.ts';
import { probeOptions, targetOf } from './support/probing.ts';

const BIN = new URL('../../bin/millrace.mjs', import.meta.url).pathname;
const ONE_WAY_MS = 40;
const SERVER_MS = 25;
// The machine is shared: the fastest of several requests each counts, and more are made until they agree. Figures that
// are wrong never do.
const MOST_ROUNDS = 8;
const CURLS_A_ROUND = 3;
const TIMEOUT_MS = 120_000;

/** Moments since the start, ms. */
type CurlTimes = { connect: number; appconnect: number; starttransfer: number; total: number };
const MOMENTS = ['connect', 'appconnect', 'starttransfer', 'total'] as const;

const PROTOCOLS = [
  ['http', '1.1', '--http1.1'],
  ['https', '1.1', '--http1.1'],
  ['http2', '2', '--http2'],
] as const;

const reason = whyNotFar();
const authority = createAuthority();
let folder: string;
let ca: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-far-'));
  ca = join(folder, 'ca.pem');
  await writeFile(ca, authority.cert);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe.skipIf(reason !== null)(`against a server 80 ms away${reason === null ? '' : ` (${reason})`}`, () => {
  let network: FarNetwork;

  beforeAll(async () => {
    network = await FarNetwork.open(ONE_WAY_MS);
  });

  afterAll(() => network?.close());

  test.each(PROTOCOLS)(
    'probe agrees with curl -w within a tenth or 2 ms: %s, HTTP/%s',
    async (protocol, httpVersion, curlOption) => {
      const certificate = authority.issue([network.serverAddress]);
      const origin = await network.serve({ protocol, certificate, latencyMs: SERVER_MS, bodyBytes: 3_000 });
      const url = `${origin}/items/1`;
      const probe = await agreement({
        curl: () => curlOnce(url, curlOption, (args) => network.run('curl', args)),
        probe: () => probeByCommand(url),
      });
      expect(probe).toMatchObject({ status: 200, error: null, httpVersion, isReused: true });
      expect(probe.roundTripMs).toBeGreaterThanOrEqual(2 * ONE_WAY_MS);
      expect(probe.roundTripMs).toBeLessThan(3 * ONE_WAY_MS);
    },
    TIMEOUT_MS,
  );

  async function probeByCommand(url: string): Promise<UrlProbe> {
    const args = [BIN, 'probe', url, '--json', '--keep-alive', '0.2'];
    const text = await network.run(process.execPath, args, { NODE_EXTRA_CA_CERTS: ca });
    return (JSON.parse(text) as ProbeReport).urls[0]!;
  }
});

describe('against a server whose handshakes and answers come late', () => {
  test.each(PROTOCOLS.slice(1))(
    'probe agrees with curl -w within a tenth or 2 ms: %s, HTTP/%s',
    async (protocol, httpVersion, curlOption) => {
      const certificate = authority.issue(['127.0.0.1']);
      const server = await serveInProcess({ json: { latencyMs: SERVER_MS, bodyBytes: 3_000 }, protocol, certificate });
      const relay = await startDelayingRelay(Number(new URL(server.url).port), ONE_WAY_MS);
      try {
        const url = `https://127.0.0.1:${relay.port}/items/1`;
        const probe = await agreement({
          curl: () => curlOnce(url, curlOption, async (args) => (await promisify(execFile)('curl', args)).stdout),
          probe: () => probeUrl(targetOf(url), probeOptions({ trust: { ca: authority.cert }, keepAliveBoundMs: 50 })),
        });
        expect(probe).toMatchObject({ status: 200, error: null, httpVersion, isReused: true });
      } finally {
        await relay.close();
        await server.close();
      }
    },
    TIMEOUT_MS,
  );
});

/** @returns the last probe, once its best request agrees with curl's best; throws when they never do */
async function agreement(measure: {
  curl: () => Promise<CurlTimes>;
  probe: () => Promise<UrlProbe>;
}): Promise<UrlProbe> {
  const curls: CurlTimes[] = [];
  const ours: CurlTimes[] = [];
  for (let round = 1; ; round++) {
    for (let index = 0; index < CURLS_A_ROUND; index++) curls.push(await measure.curl());
    const probe = await measure.probe();
    expect(probe.error).toBeNull();
    ours.push(sinceStart(probe.freshBest!));
    const [best, bestOfCurl] = [fastest(ours), fastest(curls)];
    const apart = MOMENTS.filter((moment) => !isNear(best[moment], bestOfCurl[moment]));
    if (apart.length === 0) return probe;
    if (round === MOST_ROUNDS) expect.fail(`${apart.join(', ')}: ${JSON.stringify({ best, bestOfCurl })}`);
  }
}

function isNear(ours: number, curls: number): boolean {
  return Math.abs(ours - curls) <= Math.max(2, curls * 0.1);
}

function fastest(times: readonly CurlTimes[]): CurlTimes {
  return times.toSorted((a, b) => a.total - b.total)[0]!;
}

function sinceStart({ dns, connect, tls, firstByte, total }: PhaseTimes): CurlTimes {
  const connected = dns + connect;
  return {
    connect: connected,
    appconnect: tls > 0 ? connected + tls : 0,
    starttransfer: connected + tls + firstByte,
    total,
  };
}

async function curlOnce(url: string, option: string, run: (args: string[]) => Promise<string>): Promise<CurlTimes> {
  const format = `{${MOMENTS.map((moment) => `"${moment}":%{time_${moment}}`).join()}}`;
  const text = await run(['-s', '-o', '/dev/null', '--cacert', ca, option, '-w', format, url]);
  const seconds = JSON.parse(text) as CurlTimes;
  return {
    connect: seconds.connect * 1_000,
    appconnect: seconds.appconnect * 1_000,
    starttransfer: seconds.starttransfer * 1_000,
    total: seconds.total * 1_000,
  };
}
