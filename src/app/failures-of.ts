import { hostOf } from '../core/host.ts';
import { FAILURES_DATASET, type FailureRecord } from '../crawl/failure-record.ts';
import { rowsByPage } from '../export/rows.ts';
import { type FailureGroup, FailureGroups } from '../report/failure-groups.ts';
import type { DatasetStore } from '../storage/store.ts';

/** The requests that have failed for good and have not been retried since, from their rows: exact over any crash. */
export async function* failuresOf(datasets: DatasetStore): AsyncGenerator<FailureRecord> {
  for await (const rows of rowsByPage((page) => datasets.page(FAILURES_DATASET, page))()) {
    for (const { json } of rows) yield JSON.parse(json) as FailureRecord;
  }
}

/** Failed requests by code and host, with one example each. */
export async function failureGroupsOf(datasets: DatasetStore): Promise<FailureGroup[]> {
  const groups = new FailureGroups();
  for await (const { code, url, message } of failuresOf(datasets))
    groups.add({ code, host: hostOf(url), url, message });
  return groups.list();
}

/** Failed requests by label. */
export async function failuresByLabel(datasets: DatasetStore): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const { label } of failuresOf(datasets)) {
    if (label !== null) counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return counts;
}
