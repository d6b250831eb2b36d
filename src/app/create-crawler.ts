import { Configuration, log as crawleeLog } from '@crawlee/core';
import type { Input } from '../config/input-schema.ts';
import { systemClock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Ports } from '../core/ports.ts';
import { systemRandom } from '../core/random.ts';
import { SECOND_MS } from '../core/units.ts';
import type { JsonCrawler } from '../crawl/json-crawler.ts';
import { originOf } from '../crawl/request-builder.ts';
import { createRouteRegistry } from '../routes/registry.ts';
import { moveToPrevious, type OpenRun, openRun } from '../storage/runs.ts';
import type { NewRequest } from '../storage/store.ts';
import { type Composition, compose } from './compose.ts';
import { type JsonCrawlerSettings, readSettings } from './crawler-settings.ts';
import { plainListOf } from './plain-list-of.ts';
import { loadFeed, loadMeta, type RunMeta, saveFeed, saveMeta } from './run-meta.ts';
import { RunMonitor } from './run-monitor.ts';
import { openVault, requireSecrets } from './secrets.ts';

export type { JsonCrawlerSettings } from './crawler-settings.ts';

/** A JsonCrawler with a run of its own to store in. */
export type RunCrawler = JsonCrawler &
  AsyncDisposable & {
    /** The run's folder: run.sqlite, and what `millrace export` writes. */
    readonly folder: string;
    /**
     * Stops what still runs and closes the run; results are in its file. Idempotent. Nothing keeps the process alive
     * once `run()` has ended, so a script that is at its end may leave it out.
     */
    close(): Promise<void>;
  };

/**
 * A crawler for an existing Crawlee project: takes HttpCrawler's options, and `storageDir`, `run`, `hosts` and whatever
 * else the input document has of pacing. What differs from HttpCrawler is in docs/crawlee.md.
 *
 * A run that is unfinished is continued; a finished one is kept as `<run>.previous`, and a new one begun.
 * @throws UsageError naming every option that cannot be used; EnvironmentError when the run is in use or not writable
 */
export async function createJsonCrawler(settings: JsonCrawlerSettings = {}): Promise<RunCrawler> {
  const { input, crawlerOptions, storageDir, run: name, fresh, routes, env } = readSettings(settings);
  const registry = createRouteRegistry(routes);
  const plain = crawlerOptions.requestHandler === undefined && settings.records !== 'none' ? plainListOf(input) : null;
  const vault = openVault(env, process.cwd());
  requireSecrets(input, vault);
  const log = settings.log ?? crawleeLog.child({ prefix: 'JsonCrawler' });
  const ports = { clock: systemClock, random: systemRandom, log: logTo(log) };
  const run = await openFor({ storageDir, name, fresh, input, ports });
  try {
    const library = new LibraryRun({ run, input, ports });
    await library.compose({ crawlerOptions: { ...crawlerOptions, log }, routes: registry, plain, vault });
    return library.crawler;
  } catch (error) {
    await run.close();
    throw error;
  }
}

type Opening = { storageDir: string; name: string; fresh: boolean; input: Input; ports: Ports };

async function openFor({ storageDir, name, fresh, input, ports }: Opening): Promise<OpenRun> {
  const open = (): Promise<OpenRun> => openRun({ storageDir, name, durability: input.durability, ports });
  const run = await open();
  const { total, pending } = await run.store.queue.counts();
  const isFinished = total > 0 && pending === 0;
  if (total === 0 || !(fresh || isFinished)) return run;
  await run.close();
  await moveToPrevious({ storageDir, name, clock: ports.clock });
  return open();
}

/** What a crawler of a library user holds open. */
class LibraryRun {
  readonly #run: OpenRun;
  readonly #input: Input;
  readonly #ports: Ports;
  readonly #cutOff = new AbortController();
  readonly #origins = new Set<string>();
  #composition: Composition | null = null;
  #closing: Promise<void> | null = null;
  /** Resolves when the present run has ended; at once while none is under way. */
  #ended: Promise<void> = Promise.resolve();

  constructor(options: { run: OpenRun; input: Input; ports: Ports }) {
    this.#run = options.run;
    this.#input = options.input;
    this.#ports = options.ports;
  }

  get crawler(): RunCrawler {
    const close = (): Promise<void> => {
      this.#closing ??= this.#close();
      return this.#closing;
    };
    const { crawler } = this.#composition!;
    return Object.assign(crawler, { folder: this.#run.paths.folder, close, [Symbol.asyncDispose]: close });
  }

  async compose(
    parts: Pick<ReturnType<typeof readSettings>, 'crawlerOptions'> & {
      routes: ReturnType<typeof createRouteRegistry>;
      plain: ReturnType<typeof plainListOf> | null;
      vault: ReturnType<typeof openVault>;
    },
  ): Promise<void> {
    const { values, storageClient } = this.#run.store;
    const feed = await loadFeed(values);
    for (const origin of feed.origins) this.#origins.add(origin);
    const meta = (await loadMeta(values)) ?? metaOfLibrary(this.#input);
    await saveMeta(values, meta);
    this.#composition = await compose({
      input: this.#input,
      run: this.#run.paths.name,
      store: this.#run.store,
      routes: parts.routes,
      plain: parts.plain,
      isJoiner: false,
      ports: this.#ports,
      origins: this.#origins,
      reveal: (text) => parts.vault.reveal(text),
      conceal: (text) => parts.vault.conceal(text),
      signal: this.#cutOff.signal,
      onTick: () => {},
      crawlerOptions: parts.crawlerOptions,
      config: new Configuration({ storageClient, purgeOnStart: false }),
      onStartUrls: (requests) => this.#addOrigins(requests),
      onRun: () => this.#begin(),
    });
  }

  /** A run begins. @returns called when it has ended */
  async #begin(): Promise<() => Promise<void>> {
    const composition = this.#composition!;
    const { store } = this.#run;
    const monitor = new RunMonitor({
      composition,
      store,
      input: this.#input,
      ports: this.#ports,
      isJoiner: false,
      onLimit: (reason) => composition.crawler.stop(`The crawl ends: ${reason}.`),
    });
    await monitor.start();
    const forget = onSignals((signal) => this.#stopFor(signal));
    let hasEnded = (): void => {};
    this.#ended = new Promise((resolve) => {
      hasEnded = resolve;
    });
    return async () => {
      forget();
      try {
        await monitor.stop();
        await this.#saveState();
      } finally {
        hasEnded();
      }
    };
  }

  #stopFor(signal: NodeJS.Signals): void {
    this.#ports.log.warn(`${signal}: requests in flight get up to 8 s to end. Once more to end at once.`);
    this.#composition!.crawler.stop();
    this.#ports.clock.schedule(DRAIN_MS, () => this.#cutOff.abort(new Error(`stopped by ${signal}`)));
  }

  #addOrigins(requests: readonly NewRequest[]): void {
    for (const { url } of requests) if (this.#origins.size < MOST_ORIGINS) this.#origins.add(originOf(url));
  }

  async #saveState(): Promise<void> {
    const { values, queue } = this.#run.store;
    const feed = await loadFeed(values);
    await saveFeed(values, { ...feed, isDone: true, origins: [...this.#origins] });
    const meta = await loadMeta(values);
    if (meta !== null) await saveMeta(values, { ...meta, isFinished: (await queue.counts()).pending === 0 });
  }

  async #close(): Promise<void> {
    const composition = this.#composition!;
    composition.crawler.stop();
    this.#cutOff.abort(new Error('The crawler was closed'));
    await composition.crawler.whenIdle();
    await composition.crawler.autoscaledPool?.abort();
    await this.#ended;
    try {
      await composition.close();
    } finally {
      await this.#run.close();
    }
  }
}

/** Requests in flight get so long to end after a signal. */
const DRAIN_MS = 8 * SECOND_MS;
const MOST_ORIGINS = 10_000;

/** For `millrace status` and `export`: a run whose input is code. */
function metaOfLibrary(input: Input): RunMeta {
  const { dataset } = input;
  const document = { dataset };
  const source = 'given';
  return {
    version: 1,
    fingerprint: 'library',
    isFinished: false,
    source,
    document,
    baseDir: process.cwd(),
    inputs: [],
    missingSecrets: [],
    exports: [],
  };
}

/** Calls `action` at the first SIGINT or SIGTERM; a second one ends the process, as without us. @returns stops listening */
function onSignals(action: (signal: NodeJS.Signals) => void): () => void {
  const listener = (signal: NodeJS.Signals): void => {
    forget();
    action(signal);
  };
  const forget = (): void => {
    process.off('SIGINT', listener);
    process.off('SIGTERM', listener);
  };
  process.on('SIGINT', listener);
  process.on('SIGTERM', listener);
  return forget;
}

function logTo(log: NonNullable<JsonCrawlerSettings['log']>): Log {
  return {
    debug: (message, facts) => log.debug(message, facts),
    info: (message, facts) => log.info(message, facts),
    warn: (message, facts) => log.warning(message, facts),
    error: (message, facts) => log.error(message, facts),
  };
}
