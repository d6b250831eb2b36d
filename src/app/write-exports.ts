import { basename, dirname, extname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { CsvSpec, OutputFormatSpec, OutputSpec } from '../config/crawl-job.ts';
import { FAILURES_DATASET, INVALID_DATASET } from '../crawl/failure-record.ts';
import { checkDestination, writeProblem } from '../export/destination.ts';
import { exportDataset } from '../export/export-dataset.ts';
import { STDOUT } from '../export/export-format.ts';
import { rowsByPage } from '../export/rows.ts';
import type { ExportProgress } from '../report/export-progress.ts';
import { makeFolder } from '../storage/make-folder.ts';
import type { DatasetStore } from '../storage/store.ts';

export type ExportRequest = {
  datasets: DatasetStore;
  /** Only these; null = all. */
  names: readonly string[] | null;
  /** The dataset that records go to which name none: a file asked for holds it. */
  mainName: string;
  /** Files asked for; empty = one of each format and dataset in `folder`. */
  outputs: readonly OutputSpec[];
  folder: string;
  formats: readonly OutputFormatSpec[];
  csv: CsvSpec;
  /** Columns, or objects for all below them; null = all. */
  fields?: readonly string[] | null;
  /** Most rows of each dataset; null = all. */
  limit?: number | null;
  /** Files that earlier exports of the run have written. */
  own: ReadonlySet<string>;
  /** Files that have followed the crawl and are complete: not to be written again. */
  followed?: ReadonlySet<string>;
  force: boolean;
  stdout: Writable;
  progress: ExportProgress;
  /** Called before a file is written as a whole, with its absolute path. */
  beforeFile: (path: string) => Promise<void>;
  /** Called when a file is complete, with its absolute path. */
  onFile: (path: string) => void;
  signal?: AbortSignal;
};

/** One file to write. */
type Plan = { dataset: string; output: OutputSpec };

/** Refuses, before anything is crawled, outputs that could not be written at the end. */
export async function checkOutputs({
  outputs,
  own,
  force,
}: Pick<ExportRequest, 'outputs' | 'own' | 'force'>): Promise<void> {
  for (const { path } of outputs) await checkDestination({ path, force, isOwn: (file) => own.has(file) });
}

/** Writes a run's datasets to files. */
export async function writeExports(request: ExportRequest): Promise<void> {
  const counts = new Map((await request.datasets.list()).map(({ name, count }) => [name, count]));
  const wanted = request.names ?? [...counts.keys()];
  const all =
    request.outputs.length > 0 ? plansFor(request.outputs, wanted, request.mainName) : ownPlans(request, wanted);
  // An empty dataset gets no file, unless an earlier one of the run would go on showing rows that are gone.
  const mayBeEmpty = (path: string): boolean => path === STDOUT || request.own.has(resolve(path));
  const plans = all.filter(({ dataset, output }) => (counts.get(dataset) ?? 0) > 0 || mayBeEmpty(output.path));
  try {
    for (const plan of plans)
      if (!request.followed?.has(plan.output.path)) await writeOne(request, plan, counts.get(plan.dataset) ?? 0);
  } finally {
    request.progress.end();
  }
}

async function writeOne(request: ExportRequest, { dataset, output }: Plan, count: number): Promise<void> {
  const { datasets, own, force, stdout, signal, csv, fields, limit, progress } = request;
  const isFile = output.path !== STDOUT;
  if (isFile) {
    await makeFolderOf(output.path);
    await request.beforeFile(resolve(output.path));
  }
  // Rows and a progress line on the same terminal would mix.
  const isShown = isFile || !('isTTY' in stdout && stdout.isTTY === true);
  if (isShown) progress.begin(isFile ? basename(output.path) : dataset, Math.min(count, limit ?? count));
  await exportDataset({
    ...output,
    rows: rowsByPage((page) => datasets.page(dataset, page)),
    columns: () => datasets.columns(dataset),
    destination: { path: output.path, isOwn: (file) => own.has(file), force, stdout },
    csv,
    fields,
    limit,
    signal,
    ...(isShown ? { onProgress: (rows) => progress.rows(rows) } : {}),
  });
  if (isFile) request.onFile(resolve(output.path));
}

/** @throws EnvironmentError in words of an export */
export async function makeFolderOf(file: string): Promise<void> {
  await makeFolder(dirname(file)).catch((error: unknown) => {
    throw writeProblem(error, refusedPlace(error) ?? dirname(file));
  });
}

function refusedPlace(error: unknown): string | null {
  return error instanceof Error && 'path' in error && typeof error.path === 'string' ? error.path : null;
}

function ownPlans({ folder, formats }: ExportRequest, datasets: readonly string[]): Plan[] {
  return datasets.flatMap((dataset) =>
    formats.map(({ format, gzip }) => ({
      dataset,
      output: { path: join(folder, `${fileNameOf(dataset)}.${format}${gzip ? '.gz' : ''}`), format, gzip },
    })),
  );
}

/**
 * A file asked for holds the run's records; where there are several datasets each of the others has its name in front of
 * the extension: products.csv, products.failures.csv. Standard output takes the records alone.
 */
export function plansFor(outputs: readonly OutputSpec[], datasets: readonly string[], mainName: string): Plan[] {
  const main = mainDataset(datasets, mainName);
  return outputs.flatMap((output) => {
    if (output.path === STDOUT) return [{ dataset: main ?? mainName, output }];
    const others = datasets.filter((dataset) => dataset !== main);
    const first = main === undefined ? [] : [{ dataset: main, output }];
    return [
      ...first,
      ...others.map((dataset) => ({ dataset, output: { ...output, path: withName(output.path, dataset) } })),
    ];
  });
}

/** @returns the dataset a file asked for holds; undefined when there is none */
export function mainDataset(datasets: readonly string[], mainName: string): string | undefined {
  const own = datasets.filter((name) => name !== FAILURES_DATASET && name !== INVALID_DATASET);
  return own.includes(mainName) ? mainName : (own[0] ?? datasets[0]);
}

function withName(path: string, dataset: string): string {
  const gzip = path.endsWith('.gz') ? '.gz' : '';
  const plain = path.slice(0, path.length - gzip.length);
  const extension = extname(plain);
  return `${plain.slice(0, plain.length - extension.length)}.${fileNameOf(dataset)}${extension}${gzip}`;
}

/** A dataset's name as a file's: what could leave the folder or is no file name elsewhere is written as %XX. */
export function fileNameOf(dataset: string): string {
  const escaped = dataset.replaceAll(/[^\p{L}\p{N}_.-]/gu, (character) =>
    Buffer.from(character).reduce((text, byte) => `${text}%${byte.toString(16).padStart(2, '0').toUpperCase()}`, ''),
  );
  return escaped.startsWith('.') ? `%2E${escaped.slice(1)}` : escaped;
}
