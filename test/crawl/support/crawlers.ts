import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { log as crawleeLog, LogLevel } from '@crawlee/core';
import { Configuration, HttpCrawler, type HttpCrawlerOptions, type HttpCrawlingContext } from '@crawlee/http';
import { MemoryStorage } from '@crawlee/memory-storage';
import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createJsonCrawler, type JsonCrawlerSettings, type RunCrawler } from '../../../src/index.ts';
import { openSqliteRun } from '../../../src/storage/sqlite/open.ts';
import type { QueueCounts, RunStore } from '../../../src/storage/store.ts';

export type Kind = 'HttpCrawler' | 'JsonCrawler';

/** Crawlee's options, and ours, which stock HttpCrawler is not given. */
export type Settings = HttpCrawlerOptions<HttpCrawlingContext> & { own?: JsonCrawlerSettings };

/** Quiet, and retries at once: what is tested is what happens, not when. */
const OWN_DEFAULTS: JsonCrawlerSettings = {
  respectRobotsTxtFile: false,
  hosts: { default: { retry: { baseDelayMs: 1, maxDelayMs: 5 } } },
};

/** Makes crawlers that keep what they store to themselves, and puts everything away. */
export class CrawlerBench {
  readonly kind: Kind;
  readonly folder = mkdtempSync(join(tmpdir(), 'millrace-contract-'));
  readonly #opened: RunCrawler[] = [];
  #count = 0;

  constructor(kind: Kind) {
    this.kind = kind;
  }

  async create({ own, ...options }: Settings): Promise<HttpCrawler<HttpCrawlingContext>> {
    const log = crawleeLog.child({ prefix: 'test', level: LogLevel.OFF });
    if (this.kind === 'HttpCrawler') {
      const storageClient = new MemoryStorage({ persistStorage: false, localDataDirectory: this.folder });
      const config = new Configuration({ storageClient, purgeOnStart: false });
      return new HttpCrawler({ ...options, log }, config);
    }
    return this.createOwn({ ...(options as JsonCrawlerSettings), ...own });
  }

  async createOwn(settings: JsonCrawlerSettings): Promise<RunCrawler> {
    const log = crawleeLog.child({ prefix: 'test', level: LogLevel.OFF });
    const { hosts } = settings;
    const defaults = { ...OWN_DEFAULTS.hosts!.default, ...hosts?.default };
    const crawler = await createJsonCrawler({
      storageDir: this.folder,
      run: `run-${++this.#count}`,
      log,
      ...OWN_DEFAULTS,
      ...settings,
      hosts: { ...hosts, default: defaults },
    });
    this.#opened.push(crawler);
    return crawler;
  }

  /** The columns a run has stored of a dataset. */
  columnsOf(crawler: RunCrawler, dataset: string): Promise<string[]> {
    return read(crawler, ({ datasets }) => datasets.columns(dataset));
  }

  /** The rows of a dataset as they are stored, sorted. */
  async textsOf(crawler: RunCrawler, dataset: string): Promise<string[]> {
    const rows = await read(crawler, ({ datasets }) => datasets.page(dataset, { afterSeq: 0, limit: 1_000_000 }));
    return rows.map(({ json }) => json).sort();
  }

  /** What the run's queue counts. */
  countsOf(crawler: RunCrawler): Promise<QueueCounts> {
    return read(crawler, ({ queue }) => queue.counts());
  }

  async end(): Promise<void> {
    for (const crawler of this.#opened) await crawler.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function read<T>(crawler: RunCrawler, look: (store: RunStore) => Promise<T>): Promise<T> {
  const ports = { clock: systemClock, random: Math.random, log: silentLog };
  const file = join(crawler.folder, 'run.sqlite');
  const store = await openSqliteRun({ file, durability: 'normal', access: 'read', ports });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}
