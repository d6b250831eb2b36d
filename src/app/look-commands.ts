import type { AppCommands, CommandContext } from '../app-commands.ts';
import type { OutputFormat } from '../config/crawl-job.ts';
import { inputSchema } from '../config/input-schema.ts';
import type { ExportJob, RunPlace, StatusJob } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import type { Summary } from '../core/summary.ts';
import { ExportProgress } from '../report/export-progress.ts';
import { createRecorder, type RecorderState } from '../report/recorder.ts';
import { buildSummary } from '../report/summary.ts';
import { runPaths } from '../storage/runs.ts';
import type { RunStore } from '../storage/store.ts';
import { RECORDER_KEY } from './compose.ts';
import { noSuchRun } from './existing-run.ts';
import { failureGroupsOf } from './failures-of.ts';
import { followedFiles, forgetFollowed } from './follow-outputs.ts';
import { hostConfigs } from './host-configs.ts';
import { isRunInUseAt, openRunAt, readRunAt } from './run-access.ts';
import { loadFeed, loadMeta, type RunMeta, saveMeta } from './run-meta.ts';
import { mainDataset, writeExports } from './write-exports.ts';

/** `millrace export`: a run's datasets to files, at any time. */
export const exportRun: AppCommands['exportRun'] = async (job, context) => {
  const { store, meta } = await look(job, context);
  const { ports, area, color } = context;
  const own = new Set(meta.exports);
  const files: string[] = [];
  try {
    const { dataset: mainName, formats } = settingsOf(meta);
    await writeExports({
      datasets: store.datasets,
      names: await datasetsOf(job, { store, mainName }),
      mainName,
      outputs: job.outputs,
      folder: runPaths(job.storageDir, job.run).exports,
      formats: job.format === null ? formats.map((format) => ({ format, gzip: false })) : [job.format],
      csv: job.csv,
      fields: job.fields,
      limit: job.limit,
      own,
      force: job.force,
      stdout: context.stdout,
      progress: new ExportProgress({ ports, area, color, quiet: job.progress === 'off' }),
      beforeFile: (path) => endFollowing(path, { job, store, ports }),
      onFile: (path) => files.push(path),
      signal: context.signal,
    });
    return { files };
  } finally {
    // Those that are complete are the run's own, whatever became of the others.
    await rememberFiles(job, { context, files: files.filter((file) => !own.has(file)) });
    await store.close();
  }
};

function settingsOf({ document }: RunMeta): { dataset: string; formats: readonly OutputFormat[] } {
  const { dataset, export: settings } = inputSchema.shape;
  return { dataset: dataset.parse(document.dataset), formats: settings.parse(document.export ?? {}).formats };
}

/**
 * A file that has followed the crawl and is now written as a whole begins anew, should it follow once more.
 * @throws UsageError while the crawl that it follows is under way
 */
async function endFollowing(
  path: string,
  { job, store, ports }: { job: ExportJob; store: RunStore; ports: Ports },
): Promise<void> {
  if (!(await followedFiles(store.values)).includes(path)) return;
  if (await isRunInUseAt(job, ports))
    throw new UsageError(`"${path}" follows the crawl that is under way: choose another name, or wait for its end`);
  const run = await openRunAt(job, ports);
  try {
    await forgetFollowed(run.store.values, path);
  } finally {
    await run.close();
  }
}

/** `millrace status`: from counters, whether or not somebody works on the run. Showing it is the caller's. */
export const runStatus: AppCommands['runStatus'] = async (job: StatusJob, context) => {
  const { store, meta } = await look(job, context);
  try {
    return await summaryFromStore(job, { store, meta, context });
  } finally {
    await store.close();
  }
};

async function summaryFromStore(
  job: StatusJob,
  { store, meta, context }: { store: RunStore; meta: RunMeta; context: CommandContext },
): Promise<Summary> {
  const input = inputSchema.parse(meta.document);
  const hostConfig = hostConfigs(input.hosts);
  const stored = await store.values.get<RecorderState>(RECORDER_KEY);
  const recorder = stored ?? createRecorder({ ports: context.ports, run: job.run }).toState();
  const feed = await loadFeed(store.values);
  const counts = await store.queue.counts();
  const isRunning = await isRunInUseAt(job, context.ports);
  const isFinished = counts.pending === 0 && feed.isDone;
  return buildSummary({
    recorder: { ...recorder, failures: await failureGroupsOf(store.datasets) },
    state: isRunning ? 'running' : isFinished ? 'finished' : 'interrupted',
    queue: counts,
    datasets: await store.datasets.list(),
    snapshots: [],
    typedPlace: job.typedPlace,
    maxConcurrency: input.maxConcurrency,
    hostConcurrency: (host) => hostConfig(host).maxConcurrency,
    input: { lines: feed.lines, malformed: feed.malformed, duplicates: feed.duplicates },
    skipReasons: await store.queue.skipReasons(),
    workers: (await store.workerShares?.()) ?? null,
    exports: meta.exports,
  });
}

async function look(place: RunPlace, { ports }: CommandContext): Promise<{ store: RunStore; meta: RunMeta }> {
  const store = await readRunAt(place, ports);
  const meta = store === null ? null : await loadMeta(store.values);
  if (store !== null && meta !== null) return { store, meta };
  await store?.close();
  throw noSuchRun(place);
}

/**
 * @returns the datasets to export; null = all
 * @throws UsageError that names the datasets there are
 */
async function datasetsOf(
  { datasets, fields, run }: ExportJob,
  { store, mainName }: { store: RunStore; mainName: string },
): Promise<readonly string[] | null> {
  const known = (await store.datasets.list()).map(({ name }) => name);
  // The other datasets have other columns.
  if (datasets === null) return fields === null ? null : [mainDataset(known, mainName) ?? mainName];
  const unknown = datasets.filter((name) => !known.includes(name));
  if (unknown.length === 0) return datasets;
  const list = known.length > 0 ? `it has ${known.join(', ')}` : 'it has none yet';
  throw new UsageError(unknown.map((name) => `Run "${run}" has no dataset "${name}": ${list}.`));
}

/** So that they may be replaced without --force. A run in use cannot be written to; its next export asks again. */
async function rememberFiles(
  place: RunPlace,
  { context, files }: { context: CommandContext; files: readonly string[] },
): Promise<void> {
  const { ports } = context;
  if (files.length === 0 || (await isRunInUseAt(place, ports))) return;
  const run = await openRunAt(place, ports);
  try {
    const meta = await loadMeta(run.store.values);
    if (meta !== null) await saveMeta(run.store.values, { ...meta, exports: [...meta.exports, ...files] });
  } finally {
    await run.close();
  }
}
