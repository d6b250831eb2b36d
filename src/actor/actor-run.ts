import { mkdir, readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CommandContext } from '../app-commands.ts';
import type { CrawlJob } from '../config/crawl-job.ts';
import { messageOf } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import { StopSignal } from '../core/stop-signal.ts';
import type { Summary } from '../core/summary.ts';
import { SECOND_MS } from '../core/units.ts';
import type { LiveArea } from '../report/terminal.ts';
import { runPaths } from '../storage/runs.ts';
import { ActorCompanion } from './actor-companion.ts';
import { readActorInput } from './actor-input.ts';
import { ACTOR_RUN, actorJob } from './actor-job.ts';
import { holdsRecords } from './dataset-handover.ts';
import { fetchLists } from './fetch-lists.ts';
import type { Platform } from './platform.ts';
import { QueueKeeper } from './queue-keeper.ts';
import type { ActorEdge } from './run-actor.ts';
import { RunSnapshot } from './run-snapshot.ts';
import { endText } from './status-text.ts';
import { tellStatus } from './tell-status.ts';

// The platform gives a migrating container "a few seconds": what is in flight is fetched again by the next one.
const MIGRATION_DRAIN_MS = 1_500;
// As Apify's SDK waits after it has asked for a reboot.
const REBOOT_PATIENCE_MS = 300 * SECOND_MS;
// Of the platform: not for references in an input.
const OF_THE_PLATFORM = /^(APIFY|ACTOR|CRAWLEE)_/;

type Ending = 'migrating' | 'aborting' | null;
export type ActorRunOptions = { platform: Platform; edge: ActorEdge; area: LiveArea; ports: Ports };

/** One run of the Actor, from its input to its last status message; in one container of perhaps several. */
export class ActorRun {
  readonly #platform: Platform;
  readonly #edge: ActorEdge;
  readonly #area: LiveArea;
  readonly #ports: Ports;
  readonly #stop = new AbortController();
  readonly #storageDir: string;
  readonly #snapshot: RunSnapshot;
  #ending: Ending = null;

  constructor({ platform, edge, area, ports }: ActorRunOptions) {
    this.#platform = platform;
    this.#edge = edge;
    this.#area = area;
    this.#ports = ports;
    const { CRAWLEE_STORAGE_DIR, APIFY_LOCAL_STORAGE_DIR } = edge.env;
    this.#storageDir = resolve(edge.cwd, CRAWLEE_STORAGE_DIR || APIFY_LOCAL_STORAGE_DIR || 'storage');
    const { database } = runPaths(this.#storageDir, ACTOR_RUN);
    this.#snapshot = new RunSnapshot({ records: platform.records, clock: ports.clock, database });
  }

  /** @returns the exit code of the process */
  async run(): Promise<number> {
    this.#listen();
    try {
      return await this.#runToEnd();
    } catch (error) {
      if (this.#ending === null) throw error;
      this.#ports.log.warn(`The run could not be ended in order: ${messageOf(error)}`);
      // What is missing is done by the next container, or when the run is resurrected.
      return this.#ending === 'migrating' ? this.#leave() : 0;
    }
  }

  async #runToEnd(): Promise<number> {
    const { job, env } = await this.#prepare();
    const keeper = job.input.queue === 'apify' ? new QueueKeeper(this.#platform, this.#ports.clock) : null;
    const isRestored = keeper === null && (await this.#snapshot.restore());
    const companion = new ActorCompanion({ platform: this.#platform, ports: this.#ports, keeper });
    this.#platform.on('persistState', () => this.#persist(companion, keeper));
    const context = { ...this.#context(), env, companion };
    const { summary, exitCode } = await this.#crawl(job, { context, isRestored, keeper });
    if (keeper === null) await this.#snapshot.save();
    if (this.#ending === 'migrating') return this.#leave();
    if (companion.datasets.length > 0) await this.#report(summary, companion);
    const isFailure = job.input.failOnErrors && isFailed(summary, exitCode, job);
    await tellStatus(this.#platform, this.#ports.log, {
      text: endText(summary, companion.recordCount ?? recordCountOf(summary)),
      isTerminal: true,
      isError: isFailure,
    });
    if (isFailure) return exitCode;
    return summary.state === 'interrupted' ? this.#exitCodeOfStop() : 0;
  }

  async #prepare(): Promise<{ job: CrawlJob; env: CommandContext['env'] }> {
    const { document, secrets, listUrls } = readActorInput(await this.#platform.input());
    await mkdir(this.#storageDir, { recursive: true });
    const place = { records: this.#platform.records, folder: this.#storageDir, signal: this.#signal };
    const lists = await fetchLists(listUrls, place);
    const job = actorJob(document, { storageDir: this.#storageDir, lists, env: this.#edge.env });
    const own = Object.entries(this.#edge.env).filter(([name]) => !OF_THE_PLATFORM.test(name));
    return { job, env: { ...Object.fromEntries(own), ...secrets } };
  }

  get #signal(): AbortSignal {
    return AbortSignal.any([this.#edge.signal, this.#stop.signal]);
  }

  #listen(): void {
    const end = (ending: 'migrating' | 'aborting', options: { drainMs?: number }): void => {
      this.#ending ??= ending;
      this.#ports.log.info(`The platform says: ${ending}.`);
      this.#stop.abort(new StopSignal('SIGTERM', options));
    };
    this.#platform.on('migrating', () => end('migrating', { drainMs: MIGRATION_DRAIN_MS }));
    this.#platform.on('aborting', () => end('aborting', {}));
  }

  #context(): Omit<CommandContext, 'env'> {
    const { stdout, stdin } = this.#edge;
    return { ports: this.#ports, stdout, stdin, area: this.#area, color: false, signal: this.#signal };
  }

  async #crawl(
    job: CrawlJob,
    { context, isRestored, keeper }: { context: CommandContext; isRestored: boolean; keeper: QueueKeeper | null },
  ): Promise<{ summary: Summary; exitCode: 0 | 3 }> {
    const { crawl, retryFailed, runStatus } = await import('../app.ts');
    try {
      if (!isRestored) return await crawl(job, context);
      this.#ports.log.info('Going on with what an earlier container of this run has saved.');
      const before = await runStatus(job, context);
      if (before.state !== 'finished') return await crawl(job, context);
      // A run that was finished and is resurrected: all that can be wanted is what had failed.
      if (before.requests.failed === 0) return { summary: before, exitCode: 0 };
      return await retryFailed({ crawl: job, selection: {} }, context);
    } catch (error) {
      if (keeper === null) await this.#saveWhatThereIs();
      throw error;
    }
  }

  /** After an error, which is to be told rather than one that comes of it. */
  async #saveWhatThereIs(): Promise<void> {
    await this.#snapshot
      .save()
      .catch((error: unknown) => this.#ports.log.warn(`The run could not be saved: ${messageOf(error)}`));
  }

  /** Saves what there is, as the platform asks for from time to time. A failure costs nothing as long as it runs. */
  #persist(companion: ActorCompanion, keeper: QueueKeeper | null): void {
    if (this.#stop.signal.aborted || !companion.isUnderWay) return;
    // The records first: what is saved then says that they are handed over.
    const save = async (): Promise<void> => {
      await companion.catchUp();
      await (keeper === null ? this.#snapshot.saveNowAndThen() : keeper.saveValues());
    };
    save().catch((error: unknown) =>
      this.#ports.log.warn(`The state of the run could not be saved: ${messageOf(error)}`),
    );
  }

  /** Asks for the next container, and waits to be ended: a process that ends by itself would end the run. */
  async #leave(): Promise<number> {
    this.#ports.log.info('Everything is saved: the run goes on in another container.');
    await this.#platform.reboot().catch((error: unknown) => {
      // It is moved all the same, only later.
      this.#ports.log.warn(`The platform does not take the wish to go on elsewhere: ${messageOf(error)}`);
    });
    await this.#ports.clock.sleep(REBOOT_PATIENCE_MS, this.#edge.signal).catch(() => undefined);
    return new StopSignal('SIGTERM').exitCode;
  }

  async #report(summary: Summary, companion: ActorCompanion): Promise<void> {
    const { records } = this.#platform;
    const datasets = companion.datasets.map(({ name, id, count }) => ({ name, datasetId: id, count }));
    await records.set('OUTPUT', JSON.stringify({ ...summary, datasets }, null, 2), 'application/json');
    const { reportHtml } = runPaths(this.#storageDir, ACTOR_RUN);
    if (await isThere(reportHtml)) await records.set('REPORT', await readFile(reportHtml), 'text/html; charset=utf-8');
  }

  /** The platform marks an aborted run by itself. */
  #exitCodeOfStop(): number {
    const { reason } = this.#edge.signal;
    return this.#ending === null && reason instanceof StopSignal ? reason.exitCode : 0;
  }
}

function recordCountOf({ records }: Summary): number {
  return Object.entries(records).reduce((sum, [name, count]) => (holdsRecords(name) ? sum + count : sum), 0);
}

/** Whether `failOnErrors` means this end: a limit of the input's own that was reached is none. */
function isFailed({ requests, state }: Summary, exitCode: number, { input }: CrawlJob): boolean {
  if (exitCode === 0) return false;
  const isLimited = state === 'incomplete' && requests.failed === 0 && input.maxRequestsPerCrawl !== null;
  return !isLimited;
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
