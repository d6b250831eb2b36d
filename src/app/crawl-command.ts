import { completenessOf } from '../api/finish-api.ts';
import type { CommandContext } from '../app-commands.ts';
import type { CrawlJob } from '../config/crawl-job.ts';
import type { Ports } from '../core/ports.ts';
import { runCommand } from '../core/run-command.ts';
import type { Summary } from '../core/summary.ts';
import { BUNDLED_PRACTICE_API } from '../practice-api/options.ts';
import type { PracticeApi } from '../practice-api/start-practice-api.ts';
import { sourcesFingerprint } from '../queue/sources/fingerprint.ts';
import { ExportProgress } from '../report/export-progress.ts';
import type { LivePage } from '../report/live/serve-live-page.ts';
import { printSummary } from '../report/print-summary.ts';
import { routes as ownRoutes } from '../routes/index.ts';
import { createRouteRegistry, type RouteRegistry } from '../routes/registry.ts';
import { accompany } from './accompany.ts';
import type { Composition } from './compose.ts';
import { type CrawlEnd, runCrawl } from './crawl-run.ts';
import { NO_PROFILE, profileRun } from './dataset-profiles.ts';
import { compileDeclaredApi } from './declared-api.ts';
import { failuresByLabel } from './failures-of.ts';
import { finalRowsOf } from './final-rows.ts';
import { FollowedOutputs, followedFiles, forgetFollowed } from './follow-outputs.ts';
import { openKept } from './kept-of-run.ts';
import { endLivePage, openLivePage } from './live-page.ts';
import { runStatus } from './look-commands.ts';
import { plainListOf } from './plain-list-of.ts';
import { isOwnProcess, type PreparedRun, prepareRun } from './prepare-run.ts';
import { ENDED_BY_LEAD_KEY, prepareSharedRun } from './prepare-shared-run.ts';
import { checkReportFile } from './report-file.ts';
import { requestsOfSeeds } from './requests-of-seeds.ts';
import { requireUsable } from './require-usable.ts';
import { readRunAt, sharedAddress } from './run-access.ts';
import { fingerprintOf, loadMeta, saveMeta } from './run-meta.ts';
import { summaryOf } from './run-summary.ts';
import { openVault, requireSecrets } from './secrets.ts';
import { checkOutputs, mainDataset, writeExports } from './write-exports.ts';
import { writeReport } from './write-report.ts';

/** What a bare `npm start` crawls. */
const PRACTICE_RUN = 'practice';
const PRACTICE_LABEL = /^practice-/;

/** `millrace crawl`, from the job to files and summary. */
export async function crawl(asked: CrawlJob, context: CommandContext): Promise<{ summary: Summary; exitCode: 0 | 3 }> {
  const routes = createRouteRegistry(ownRoutes);
  const live = await openLivePage(asked.ui, context.ports);
  let practiceApi: PracticeApi | null = null;
  try {
    practiceApi = asked.source === 'routes' ? await startPracticeApi(routes, context) : null;
    const practiceApiUrl = practiceApi?.url ?? null;
    const { prepared, ownFiles } = await prepare(asked, { routes, context, isPractice: practiceApi !== null });
    try {
      if (isOverAlready(prepared)) return await sayItIsOver(prepared, context);
      await checkRemembered(prepared, ownFiles);
      return await crawlPrepared(prepared, { routes, context, ownFiles, practiceApiUrl, live });
    } finally {
      await prepared.seat?.stop();
      await prepared.run.close();
    }
  } finally {
    await practiceApi?.close();
    await live?.close();
  }
}

/** A worker of a shared run that comes after its end has nothing to do. */
function isOverAlready({ seat, meta, isResumed }: PreparedRun): boolean {
  return seat != null && isResumed && meta.isFinished;
}

async function sayItIsOver(
  { job, run }: PreparedRun,
  context: CommandContext,
): Promise<{ summary: Summary; exitCode: 0 }> {
  // While it is open, this process counts as one of its workers.
  await run.close();
  context.ports.log.info(`Run "${job.run}" is finished: nothing is left to do. --fresh crawls it anew.`);
  return { summary: await runStatus({ ...job, json: true }, context), exitCode: 0 };
}

async function startPracticeApi(routes: RouteRegistry, { ports }: CommandContext): Promise<PracticeApi | null> {
  if (!routes.labels.some((label) => PRACTICE_LABEL.test(label))) return null;
  const { startPracticeApi: start } = await import('../practice-api/start-practice-api.ts');
  const api = await start(BUNDLED_PRACTICE_API);
  ports.log.info(`Crawling the bundled practice API at ${api.url}, to show how it goes.`);
  ports.log.info('To crawl your own: npm start -- urls.txt, or npm start -- https://api.example.com/items/1');
  return api;
}

type Surroundings = { routes: RouteRegistry; context: CommandContext };

async function prepare(
  asked: CrawlJob,
  { routes, context, isPractice }: Surroundings & { isPractice: boolean },
): Promise<{ prepared: PreparedRun; ownFiles: ReadonlySet<string> }> {
  const { ports, signal } = context;
  const job = isPractice && !asked.runGiven ? { ...asked, run: PRACTICE_RUN, fresh: true } : asked;
  const ownFiles = await filesOf(job, ports);
  await checkOutputs({ outputs: job.outputs, own: ownFiles, force: job.force });
  if (job.report !== null) await checkReportFile(job.report);
  await requireUsable(job, context);
  const fingerprint = async (): Promise<string> =>
    fingerprintOf(job, { sources: await sourcesFingerprint(job.inputs, signal), labels: routes.labels });
  const address = sharedAddress(job, ports);
  const prepared =
    address === null
      ? await prepareRun(job, fingerprint, ports)
      : await prepareSharedRun({ job, address, ports, signal }, fingerprint);
  return { prepared, ownFiles };
}

/** Files that a resumed run remembers are known only when it is open. */
async function checkRemembered(prepared: PreparedRun, own: ReadonlySet<string>): Promise<void> {
  const { outputs, force, exportAtEnd } = prepared.job;
  if (exportAtEnd && isOwnProcess(prepared)) await checkOutputs({ outputs, own, force });
}

type Beginning = { practiceApiUrl: string | null; ownFiles: ReadonlySet<string>; live: LivePage | null };

async function crawlPrepared(
  opened: PreparedRun,
  { context, practiceApiUrl, ownFiles, live, ...own }: Surroundings & Beginning,
): Promise<{ summary: Summary; exitCode: 0 | 3 }> {
  let composition: Composition | null = null;
  const prepared = await accompany(opened, context, (error) => composition?.crawler.fail(error));
  const { job, meta, run } = prepared;
  const plain = plainListOf(job.input);
  const vault = openVault(context.env, job.baseDir);
  requireSecrets(job.input, vault);
  const api = await compileDeclaredApi({
    job,
    env: context.env,
    ports: context.ports,
    values: run.store.values,
    fetch: () => composition!.sideFetch,
  });
  await sayHowItBegins(prepared, context);
  const usesRoutes = job.source === 'routes' || job.input.routes;
  const routes = api === null ? own.routes : createRouteRegistry([...(usesRoutes ? ownRoutes : []), ...api.routes]);
  const kept = await openKept(job, meta, context.ports);
  const followed = await followOutputs(prepared, { own: ownFiles, context });
  const end = await runCrawl({
    prepared,
    context,
    routes,
    seeds: usesRoutes || api !== null ? requestsOfSeeds(routes, practiceApiUrl) : null,
    plain,
    kept: kept.responses,
    live,
    reveal: (text) => vault.reveal(text),
    conceal: (text) => api?.conceal(vault.conceal(text)) ?? vault.conceal(text),
    onComposed: (parts) => {
      composition = parts;
      followed.start((error) => parts.crawler.fail(error));
    },
  }).catch(async (error: unknown) => {
    await kept.close();
    await followed.abandon();
    await context.companion?.abandon();
    throw error;
  });
  const isFinished = end.counts.pending === 0 && end.feed.isDone;
  const resources = isFinished && api !== null ? await api.finish(await failuresByLabel(run.store.datasets)) : [];
  await kept.close();
  await followed.finish();
  await context.companion?.end();
  // Of several workers one writes the files, whoever has the lead by now.
  const isOwn = isOwnProcess(prepared) && !(await isEndedByLead(prepared));
  const mayExport = job.exportAtEnd && isOwn && !end.wasInterrupted;
  const files = mayExport
    ? await exportAll(prepared, { own: ownFiles, followed: followed.files, context })
    : [...followed.files];
  // A sample is not complete, and is not meant to be.
  const isSample = job.samplePages !== null;
  const completeness = api === null || isSample ? null : resources.map(completenessOf);
  const { profiles, drift } = isOwn
    ? await profileRun(run.store, { isComparable: isFinished && !isSample })
    : NO_PROFILE;
  const summary = await summaryOf({ prepared, end, exports: files, completeness, drift });
  if (isOwn) {
    const report = await writeReport({
      paths: run.paths,
      summary,
      recorder: end.composition.recorder.toState(),
      datasets: profiles,
      input: job.input,
      file: job.report,
      wallMs: context.ports.clock.wallMs(),
    });
    await endLivePage(live, report);
  }
  // Last: whoever is killed before goes on where it was and writes what is missing, instead of crawling all anew.
  await endMeta(prepared, { isOwn, isFinished });
  tell(summary, { job, end, context });
  return { summary, exitCode: isComplete(summary) ? 0 : 3 };
}

/** The files that grow with the crawl. Whoever joins works; the run's own process writes files. */
async function followOutputs(
  prepared: PreparedRun,
  { own, context }: { own: ReadonlySet<string>; context: CommandContext },
): Promise<FollowedOutputs> {
  const { job, meta, run } = prepared;
  const isOwn = isOwnProcess(prepared);
  return FollowedOutputs.of({
    outputs: isOwn && job.exportAtEnd ? job.outputs : [],
    dataset: job.input.dataset,
    store: run.store,
    own,
    force: job.force,
    isFinal: finalRowsOf(job.input),
    ports: context.ports,
    onOpened: async (path) => {
      addFile(meta, path);
      await saveMeta(run.store.values, meta);
    },
  });
}

/** The lead of a shared run passes to another worker when it ends: what it has written needs not be written again. */
async function isEndedByLead({ run, seat }: PreparedRun): Promise<boolean> {
  return seat != null && (await run.store.values.get<boolean>(ENDED_BY_LEAD_KEY)) === true;
}

/** Another worker may have written files of its own meanwhile: only who is the run's own process writes it whole. */
async function endMeta(
  { run, meta, seat }: PreparedRun,
  { isOwn, isFinished }: { isOwn: boolean; isFinished: boolean },
): Promise<void> {
  const { values } = run.store;
  const current = isOwn ? meta : ((await loadMeta(values)) ?? meta);
  await saveMeta(values, { ...current, isFinished });
  if (seat != null && isOwn && isFinished) await values.set(ENDED_BY_LEAD_KEY, true);
}

function addFile(meta: PreparedRun['meta'], path: string): void {
  if (!meta.exports.includes(path)) meta.exports.push(path);
}

/** Files that the run of the same name has written: they may be replaced. */
async function filesOf(job: CrawlJob, ports: Ports): Promise<ReadonlySet<string>> {
  const store = await readRunAt(job, ports);
  if (store === null) return new Set();
  const meta = await loadMeta(store.values);
  const followed = await followedFiles(store.values);
  await store.close();
  return new Set([...(meta?.exports ?? []), ...followed]);
}

async function sayHowItBegins(prepared: PreparedRun, { ports }: CommandContext): Promise<void> {
  const { isResumed, job, run } = prepared;
  if (job.samplePages !== null)
    ports.log.info(`A sample: ${job.samplePages} pages of each resource at most, into run "${job.run}".`);
  if (!isResumed) return;
  const { total, pending } = await run.store.queue.counts();
  const how = prepared.seat != null && !isOwnProcess(prepared) ? 'Joining' : 'Continuing';
  ports.log.info(`${how} run "${job.run}": ${total - pending} of ${total} requests are done.`);
}

type ExportSurroundings = { own: ReadonlySet<string>; followed: ReadonlySet<string>; context: CommandContext };

/** @returns absolute paths of the files written, those that have followed the crawl among them */
async function exportAll(
  { job, meta, run }: PreparedRun,
  { own, followed, context }: ExportSurroundings,
): Promise<string[]> {
  const { datasets, values } = run.store;
  const { ports, area, color } = context;
  const { dataset: mainName, export: settings } = job.input;
  const names = (await datasets.list()).map(({ name }) => name);
  // Where the records went to other datasets, a file asked for holds the first of those, written now.
  const complete = mainDataset(names, mainName) === mainName ? followed : new Set<string>();
  const files = [...complete];
  try {
    await writeExports({
      datasets,
      names: null,
      mainName,
      outputs: job.outputs,
      folder: run.paths.exports,
      formats: settings.formats.map((format) => ({ format, gzip: false })),
      csv: job.csv,
      own: new Set([...own, ...meta.exports]),
      followed: complete,
      force: job.force,
      stdout: context.stdout,
      progress: new ExportProgress({ ports, area, color, quiet: job.progress === 'off' }),
      beforeFile: (path) => forgetFollowed(values, path),
      onFile: (path) => {
        files.push(path);
        addFile(meta, path);
      },
      signal: context.signal,
    });
  } catch (error) {
    // Those that are complete are the run's own, whatever became of the others.
    await saveMeta(values, meta);
    throw error;
  }
  return files;
}

function isComplete({ state, requests }: Summary): boolean {
  const isAllSkipped = requests.total > 0 && requests.skipped === requests.total;
  return state === 'finished' && requests.failed === 0 && !isAllSkipped;
}

function tell(
  summary: Summary,
  { job, end, context }: { job: CrawlJob; end: CrawlEnd; context: CommandContext },
): void {
  const { log } = context.ports;
  if (!job.quiet && !job.json) context.area.print(`\n${printSummary(summary, { color: context.color })}\n`);
  const { requests } = summary;
  if (requests.total > 0 && requests.skipped === requests.total)
    log.warn('All URLs were skipped: robots.txt forbids them. If you may fetch them all the same: --ignore-robots.');
  if (summary.invalid > 0)
    log.warn(`${summary.invalid} records did not fit their schema and are in dataset "invalid", whole.`);
  const resume = runCommand('crawl', job);
  if (end.wasInterrupted)
    log.warn(`Stopped. All that was done is saved; ${requests.pending} requests are left. Go on: ${resume}`);
  else if (summary.state === 'incomplete')
    log.warn(
      `The run is incomplete${end.endedEarly ? `: ${end.endedEarly}` : ''}. ${requests.pending} requests are left. Go on: ${resume}`,
    );
}
