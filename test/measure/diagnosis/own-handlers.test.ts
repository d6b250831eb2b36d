import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RECORDER_KEY, SLOTS_KEY } from '../../../src/app/compose.ts';
import { createJsonCrawler } from '../../../src/app/create-crawler.ts';
import { hostConfig } from '../../../src/config/host-config.ts';
import { inputSchema } from '../../../src/config/input-schema.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { type Diagnosis, diagnose } from '../../../src/measure/diagnosis/diagnose.ts';
import type { SlotAccountState } from '../../../src/measure/diagnosis/slot-account.ts';
import type { RecorderState } from '../../../src/report/recorder.ts';
import { readRun } from '../../../src/storage/runs.ts';
import { Bottleneck } from '../support/bottleneck.ts';
import { advised, finding } from './scenario.ts';

const HOSTS = { default: { maxConcurrency: 4, discovery: 'off', robots: 'ignore' } } as const;

/** What a program of a user's own does with each response. */
describe('a handler', () => {
  let storageDir: string;
  let server: Bottleneck;

  beforeEach(async () => {
    storageDir = await mkdtemp(join(tmpdir(), 'millrace-handlers-'));
    server = await Bottleneck.start({ latencyMs: 20 });
  });
  afterEach(async () => {
    await server.close();
    await rm(storageDir, { recursive: true });
  });

  async function crawled(requestHandler: () => Promise<void>, count: number): Promise<Diagnosis | null> {
    const crawler = await createJsonCrawler({ storageDir, run: 'own', hosts: HOSTS, requestHandler });
    await crawler.run(Array.from({ length: count }, (_, index) => `${server.origin}/items/${index}`));
    await crawler.close();
    const ports = { clock: systemClock, random: () => 0.5, log: silentLog };
    const store = await readRun({ storageDir, name: 'own', durability: 'normal', ports });
    const recorder = (await store!.values.get<RecorderState>(RECORDER_KEY))!;
    const slots = (await store!.values.get<SlotAccountState>(SLOTS_KEY))!;
    await store!.close();
    const input = inputSchema.parse({ hosts: HOSTS });
    return diagnose({ recorder, slots, ...input, hostConfig: (host) => hostConfig(input.hosts, host) });
  }

  test('that waits for something else is named, and told to wait for less', async () => {
    const diagnosis = await crawled(() => new Promise((resolve) => setTimeout(resolve, 300)), 60);
    const found = finding(diagnosis, 'parse / handler');
    expect(found?.evidence).toMatch(
      /^The handler takes \d+ ms a response of .*, in which its slot is not on the wire\.$/,
    );
    expect(found?.advice).toContain('Let the handler wait for less');
    expect(advised(diagnosis)).toEqual(['parse / handler']);
  });

  test('that is over at once is not', async () => {
    const diagnosis = await crawled(async () => {}, 300);
    expect(advised(diagnosis)).not.toContain('parse / handler');
  });
});
