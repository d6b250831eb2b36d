import type { AppCommands, CommandContext } from '../app-commands.ts';
import { inputSchema } from '../config/input-schema.ts';
import type { ExportJob, RunPlace, StatusJob } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import type { Summary } from '../core/summary.ts';
import { printSummary } from '../report/print-summary.ts';
import { createRecorder, type RecorderState } from '../report/recorder.ts';
import { buildSummary } from '../report/summary.ts';
import { isRunInUse, openRun, readRun, runPaths } from '../storage/runs.ts';
import type { RunStore } from '../storage/store.ts';
import { RECORDER_KEY } from './compose.ts';
import { failureGroupsOf } from './failures-of.ts';
import { hostConfigs } from './host-configs.ts';
import { loadFeed, loadMeta, type RunMeta, saveMeta } from './run-meta.ts';
import { writeExports } from './write-exports.ts';

/** `millrace export`: a run's datasets to files, at any time. */
export const exportRun: AppCommands['exportRun'] = async (job, context) => {
  const { store, meta } = await look(job, context);
  try {
    const own = new Set(meta.exports);
    const files = await writeExports({
      datasets: store.datasets,
      names: await requireDatasets(job, store),
      outputs: job.outputs,
      folder: runPaths(job.storageDir, job.run).exports,
      formats: inputSchema.shape.export.parse(meta.document.export ?? {}).formats,
      own,
      force: job.force,
      stdout: context.stdout,
      signal: context.signal,
    });
    await rememberFiles(job, { context, files: files.filter((file) => !own.has(file)) });
    return { files };
  } finally {
    await store.close();
  }
};

/** `millrace status`: from counters, whether or not somebody works on the run. */
export const runStatus: AppCommands['runStatus'] = async (job: StatusJob, context) => {
  const { store, meta } = await look(job, context);
  try {
    const summary = await summaryFromStore(job, { store, meta, context });
    if (!job.json) context.area.print(`${printSummary(summary, { color: context.color })}\n`);
    return summary;
  } finally {
    await store.close();
  }
};

async function summaryFromStore(
  job: StatusJob,
  { store, meta, context }: { store: RunStore; meta: RunMeta; context: CommandContext },
): Promise<Summary> {
  const { clock } = context.ports;
  const input = inputSchema.parse(meta.document);
  const hostConfig = hostConfigs(input.hosts);
  const stored = await store.values.get<RecorderState>(RECORDER_KEY);
  const recorder = stored ?? createRecorder({ ports: context.ports, run: job.run }).toState();
  const feed = await loadFeed(store.values);
  const counts = await store.queue.counts();
  const isRunning = await isRunInUse({ storageDir: job.storageDir, name: job.run, clock });
  const isFinished = counts.pending === 0 && feed.isDone;
  return buildSummary({
    recorder: { ...recorder, failures: await failureGroupsOf(store.datasets) },
    state: isRunning ? 'running' : isFinished ? 'finished' : 'interrupted',
    queue: counts,
    datasets: await store.datasets.list(),
    snapshots: [],
    maxConcurrency: input.maxConcurrency,
    hostConcurrency: (host) => hostConfig(host).maxConcurrency,
    input: { lines: feed.lines, malformed: feed.malformed, duplicates: feed.duplicates },
    skipReasons: await store.queue.skipReasons(),
    exports: meta.exports,
  });
}

async function look(place: RunPlace, { ports }: CommandContext): Promise<{ store: RunStore; meta: RunMeta }> {
  const { storageDir, run: name } = place;
  const store = await readRun({ storageDir, name, durability: 'normal', ports });
  const meta = store === null ? null : await loadMeta(store.values);
  if (store !== null && meta !== null) return { store, meta };
  await store?.close();
  throw new UsageError(
    `There is no run "${name}" in ${storageDir}. --run names another run, --storage-dir another folder.`,
  );
}

/** @throws UsageError that names the datasets there are */
async function requireDatasets({ datasets, run }: ExportJob, store: RunStore): Promise<readonly string[] | null> {
  if (datasets === null) return null;
  const known = (await store.datasets.list()).map(({ name }) => name);
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
  const { storageDir, run: name } = place;
  const { ports } = context;
  if (files.length === 0 || (await isRunInUse({ storageDir, name, clock: ports.clock }))) return;
  const run = await openRun({ storageDir, name, durability: 'normal', ports });
  try {
    const meta = await loadMeta(run.store.values);
    if (meta !== null) await saveMeta(run.store.values, { ...meta, exports: [...meta.exports, ...files] });
  } finally {
    await run.close();
  }
}
