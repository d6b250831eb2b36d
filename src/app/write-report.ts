import type { Input } from '../config/input-schema.ts';
import type { Summary } from '../core/summary.ts';
import type { DatasetProfile } from '../report/dataset-profile.ts';
import type { ReportData } from '../report/html/report-data.ts';
import type { RecorderState } from '../report/recorder.ts';
import type { RunPaths } from '../storage/runs.ts';
import { writeReportFile } from './report-file.ts';

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
  await writeReportFile(paths.reportJson, `${JSON.stringify(summary, null, 2)}\n`);
  const [{ buildReportData }, { renderReport }] = await Promise.all([
    import('../report/html/report-data.ts'),
    import('../report/html/page.ts'),
  ]);
  const data = buildReportData({ summary, recorder, datasets, config: input, writtenAtMs: wallMs });
  const page = renderReport(data);
  await writeReportFile(paths.reportHtml, page);
  if (facts.file !== null) await writeReportFile(facts.file, page, ` The same page lies in ${paths.reportHtml}.`);
  return data;
}
