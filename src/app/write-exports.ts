import { mkdir } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import type { OutputSpec } from '../config/crawl-job.ts';
import { FAILURES_DATASET, INVALID_DATASET } from '../crawl/failure-record.ts';
import { checkDestination } from '../export/destination.ts';
import { exportDataset } from '../export/export-dataset.ts';
import { STDOUT } from '../export/export-format.ts';
import { rowsByPage } from '../export/rows.ts';
import type { DatasetStore } from '../storage/store.ts';

export type ExportRequest = {
  datasets: DatasetStore;
  /** Only these; null = all. */
  names: readonly string[] | null;
  /** Files asked for; empty = one of each format and dataset in `folder`. */
  outputs: readonly OutputSpec[];
  folder: string;
  formats: readonly OutputSpec['format'][];
  /** Files that earlier exports of the run have written. */
  own: ReadonlySet<string>;
  force: boolean;
  stdout: Writable;
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

/**
 * Writes a run's datasets to files.
 * @returns absolute paths of the files written
 */
export async function writeExports(request: ExportRequest): Promise<string[]> {
  const datasets = await request.datasets.list();
  const wanted = request.names ?? datasets.map(({ name }) => name);
  const filled = new Set(datasets.filter(({ count }) => count > 0).map(({ name }) => name));
  const all = request.outputs.length > 0 ? plansFor(request.outputs, wanted) : ownPlans(request, wanted);
  // An empty dataset gets no file, unless an earlier one of the run would go on showing rows that are gone.
  const plans = all.filter(({ dataset, output }) => filled.has(dataset) || request.own.has(resolve(output.path)));
  const files: string[] = [];
  for (const plan of plans) files.push(await writeOne(request, plan));
  return files.filter((path) => path !== STDOUT);
}

async function writeOne(request: ExportRequest, { dataset, output }: Plan): Promise<string> {
  const { datasets, own, force, stdout, signal } = request;
  if (output.path !== STDOUT) await mkdir(dirname(output.path), { recursive: true });
  const { path } = await exportDataset({
    ...output,
    rows: rowsByPage((page) => datasets.page(dataset, page)),
    columns: () => datasets.columns(dataset),
    destination: { path: output.path, isOwn: (file) => own.has(file), force, stdout },
    signal,
  });
  return path === STDOUT ? path : resolve(path);
}

function ownPlans({ folder, formats }: ExportRequest, datasets: readonly string[]): Plan[] {
  return datasets.flatMap((dataset) =>
    formats.map((format) => ({
      dataset,
      output: { path: join(folder, `${fileNameOf(dataset)}.${format}`), format, gzip: false },
    })),
  );
}

/**
 * A file asked for holds the run's records; where there are several datasets each of the others has its name in front of
 * the extension: products.csv, products.failures.csv.
 */
export function plansFor(outputs: readonly OutputSpec[], datasets: readonly string[]): Plan[] {
  const main = mainDataset(datasets);
  return outputs.flatMap((output) => {
    const others = output.path === STDOUT ? [] : datasets.filter((dataset) => dataset !== main);
    const first = main === undefined ? [] : [{ dataset: main, output }];
    return [
      ...first,
      ...others.map((dataset) => ({ dataset, output: { ...output, path: withName(output.path, dataset) } })),
    ];
  });
}

function mainDataset(datasets: readonly string[]): string | undefined {
  const own = datasets.filter((name) => name !== FAILURES_DATASET && name !== INVALID_DATASET);
  return own.includes('default') ? 'default' : (own[0] ?? datasets[0]);
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
