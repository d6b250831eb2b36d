import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Summary } from '../../../src/core/summary.ts';
import { urlList, Workplace } from '../../e2e/millrace.ts';
import { createAuthority } from '../../fixtures/servers/certificates.ts';
import { FarNetwork, whyNotFar } from '../support/far-network.ts';
import type { FarServerSpec } from '../support/far-server.ts';
import { advised, finding } from './scenario.ts';

const BIN = new URL('../../../bin/millrace.mjs', import.meta.url).pathname;
const ONE_WAY_MS = 100;
const TIMEOUT_MS = 60_000;
const reason = whyNotFar();

describe.skipIf(reason !== null)(`a crawl 200 ms away${reason === null ? '' : ` (${reason})`}`, () => {
  const authority = createAuthority();
  let network: FarNetwork;
  let place: Workplace;

  beforeAll(async () => {
    place = await Workplace.open();
    await place.write('ca.pem', authority.cert);
    network = await FarNetwork.open(ONE_WAY_MS);
  });

  afterAll(async () => {
    await network?.close();
    await place.remove();
  });

  async function crawled(
    spec: Pick<FarServerSpec, 'protocol' | 'latencyMs' | 'closes'>,
    args: string[],
  ): Promise<Summary> {
    const certificate = authority.issue([network.serverAddress]);
    const origin = await network.serve({ ...spec, certificate, bodyBytes: 500 });
    const list = await place.write('urls.txt', urlList(origin, 80));
    const own = ['--storage-dir', place.storage, '--fresh', '--ignore-robots', '--no-discovery', '--quiet', '--json'];
    const text = await network.run(process.execPath, [BIN, list, ...own, ...args], {
      NODE_EXTRA_CA_CERTS: join(place.folder, 'ca.pem'),
    });
    return JSON.parse(text) as Summary;
  }

  test(
    'is told to move nearer, or to ask for more at once',
    async () => {
      const summary = await crawled({ protocol: 'https', latencyMs: 5 }, ['--max-concurrency-per-host', '4']);
      expect(summary.requests).toMatchObject({ total: 80, succeeded: 80 });
      const found = finding(summary.diagnosis, 'distance');
      expect(found?.share).toBeGreaterThan(0.5);
      expect(found?.advice).toContain('probe --compare');
      expect(advised(summary.diagnosis)).toEqual(['distance']);
    },
    TIMEOUT_MS,
  );

  test(
    'is told of its handshakes, where the server keeps no connection',
    async () => {
      const { diagnosis } = await crawled({ protocol: 'https', latencyMs: 5, closes: true }, [
        '--max-concurrency-per-host',
        '4',
      ]);
      const found = finding(diagnosis, 'fresh handshakes');
      expect(found?.share).toBeGreaterThan(0.4);
      expect(found?.evidence).toContain('100 % of the requests');
    },
    TIMEOUT_MS,
  );

  test(
    'is told that HTTP/2 was turned off, where that made the handshakes',
    async () => {
      const args = ['--max-concurrency-per-host', '4', '--no-http2'];
      const { diagnosis } = await crawled({ protocol: 'https', latencyMs: 5, closes: true }, args);
      expect(finding(diagnosis, 'HTTP version')?.advice).toContain('--no-http2');
      expect(finding(diagnosis, 'fresh handshakes')).toBeUndefined();
    },
    TIMEOUT_MS,
  );
});
