import { rename, writeFile } from 'node:fs/promises';
import type { Input } from '../config/input-schema.ts';
import { EnvironmentError, messageOf } from '../core/errors.ts';
import type { Summary } from '../core/summary.ts';
import type { DatasetProfile } from '../report/dataset-profile.ts';
import type { ReportData } from '../report/html/report-data.ts';
import type { RecorderState } from '../report/recorder.ts';
import type { RunPaths } from '../storage/runs.ts';

export type ReportFacts = {
  paths: RunPaths;
  summary: Summary;
  recorder: RecorderState;
  datasets: readonly DatasetProfile[];
  input: Input;
  /** A further place for the page; null = the run's folder only. */
  file: string | null;
  wallMs: number;
};

/**
 * Writes the summary and the report page of a run.
 * @returns what the page shows
 * @throws EnvironmentError when a place cannot be written
 */
export async function writeReport(facts: ReportFacts): Promise<ReportData> {
  const { paths, summary, recorder, datasets, input, wallMs } = facts;
  await write(paths.reportJson, `${JSON.stringify(summary, null, 2)}\n`);
  const [{ buildReportData }, { renderReport }] = await Promise.all([
    import('../report/html/report-data.ts'),
    import('../report/html/page.ts'),
  ]);
  const data = buildReportData({ summary, recorder, datasets, config: input, writtenAtMs: wallMs });
  const page = renderReport(data);
  await write(paths.reportHtml, page);
  if (facts.file !== null) await write(facts.file, page);
  return data;
}

/** Beside its place, then renamed: whoever looks at it never sees half of it. */
async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(`${path}.partial`, text);
    await rename(`${path}.partial`, path);
  } catch (error) {
    throw new EnvironmentError(`The report ${path} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}
