import type { AppCommands, CommandContext, Revalidated } from '../app-commands.ts';
import { inputSchema } from '../config/input-schema.ts';
import type { RevalidateJob } from '../config/run-jobs.ts';
import { parseExact, stringifyExact } from '../core/exact-json.ts';
import { hostOf } from '../core/host.ts';
import { DatasetColumns } from '../crawl/dataset-columns.ts';
import { INVALID_DATASET, type InvalidRow } from '../crawl/failure-record.ts';
import { fromFollowUp } from '../crawl/new-request.ts';
import { PendingWork } from '../crawl/pending-work.ts';
import { routes as ownRoutes } from '../routes/index.ts';
import { createRouteRegistry, type RouteRegistry } from '../routes/registry.ts';
import { DEFAULT_DATASET, type RouteResult } from '../routes/run-route.ts';
import type { DatasetStore, RowReplacement, StoredRecord, UnitOfWork } from '../storage/store.ts';
import { compileDeclaredApi } from './declared-api.ts';
import { openExistingRun } from './existing-run.ts';
import { followRule } from './follow-rule.ts';
import { recheckRow } from './recheck-row.ts';
import { type RunMeta, saveMeta } from './run-meta.ts';

const ROWS_A_PAGE = 500;
// A place in a body, "items[3].price", may be another one in every row.
const MOST_REASONS = 100;
const OTHER_REASONS = 'for other reasons';

/** `millrace revalidate`: moves records that fit by now from dataset `invalid` to where they belong, without a request. */
export const revalidate: AppCommands['revalidate'] = async (job, context) => {
  const { run, meta } = await openExistingRun(job, context.ports);
  try {
    const { datasets, values } = run.store;
    const input = inputSchema.parse(meta.document);
    const done = await new Revalidation({
      datasets,
      columns: await DatasetColumns.load(datasets),
      routes: await routesFor(job, meta, context),
      mayFollow: followRule(input.followHosts),
      defaultDataset: input.dataset,
    }).run(context.signal);
    if (done.requests > 0) await saveMeta(values, { ...meta, isFinished: false });
    return done;
  } finally {
    await run.close();
  }
};

/** Those of src/routes, and those of the api that the run, or another document, declares. */
async function routesFor(job: RevalidateJob, meta: RunMeta, { env, ports }: CommandContext): Promise<RouteRegistry> {
  const { input, baseDir } = job.document ?? { input: inputSchema.parse(meta.document), baseDir: meta.baseDir };
  const fetch = () => {
    throw new Error('Nothing is sent while records are checked');
  };
  const api = await compileDeclaredApi({ job: { input, baseDir, samplePages: null }, env, ports, values: null, fetch });
  const usesRoutes = api === null || meta.source === 'routes' || input.routes;
  return createRouteRegistry([...(usesRoutes ? ownRoutes : []), ...(api?.routes ?? [])]);
}

type Parts = {
  datasets: DatasetStore;
  columns: DatasetColumns;
  routes: RouteRegistry;
  mayFollow: (fromHost: string, toHost: string) => boolean;
  defaultDataset: string;
};

/** One pass over dataset `invalid`. */
class Revalidation {
  readonly #parts: Parts;
  readonly #reasons = new Map<string, number>();
  #moved = 0;
  #left = 0;
  #requests = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<Revalidated> {
    const { datasets } = this.#parts;
    for (let afterSeq = 0; ; ) {
      signal.throwIfAborted();
      const rows = await datasets.page(INVALID_DATASET, { afterSeq, limit: ROWS_A_PAGE });
      if (rows.length === 0) break;
      await this.#replace(rows);
      afterSeq = rows.at(-1)!.seq;
    }
    const reasons = [...this.#reasons].map(([reason, count]) => ({ reason, count }));
    return {
      moved: this.#moved,
      left: this.#left,
      requests: this.#requests,
      reasons: reasons.sort((a, b) => b.count - a.count),
    };
  }

  async #replace(rows: readonly StoredRecord[]): Promise<void> {
    const { datasets, routes } = this.#parts;
    const replacements: RowReplacement[] = [];
    const columns: UnitOfWork['columns'][number][] = [];
    for (const { seq, json } of rows) {
      const row = parseExact(json) as InvalidRow;
      const route = routes.labels.includes(row.label) ? routes.get(row.label) : null;
      const checked = recheckRow(row, route, await datasets.requestOf(INVALID_DATASET, seq));
      if (checked.kind === 'stays') {
        this.#leave(checked.reason);
        continue;
      }
      const replacement = this.#replacementOf(row, checked.result);
      replacements.push({ seq, ...replacement });
      columns.push(...replacement.columns);
    }
    const { replaced, added } = await datasets.replace(INVALID_DATASET, replacements, columns);
    this.#moved += replaced;
    this.#requests += added;
  }

  #leave(reason: string): void {
    this.#left += 1;
    const told = this.#reasons.has(reason) || this.#reasons.size < MOST_REASONS ? reason : OTHER_REASONS;
    this.#reasons.set(told, (this.#reasons.get(told) ?? 0) + 1);
  }

  #replacementOf(
    { url, label, loadedUrl = url }: InvalidRow,
    { records, invalid, requests, values }: RouteResult,
  ): Pick<UnitOfWork, 'records' | 'columns' | 'requests' | 'values'> {
    const { columns, defaultDataset, mayFollow } = this.#parts;
    const work = new PendingWork(columns);
    for (const { dataset, record } of records)
      work.addRecord(dataset === DEFAULT_DATASET ? defaultDataset : dataset, record);
    for (const { issues, record } of invalid) work.addRecord(INVALID_DATASET, { url, label, issues, record });
    const followed = requests.map((request) => fromFollowUp(request, { url: loadedUrl, label }));
    return {
      ...work.rows,
      requests: followed.filter(({ host }) => mayFollow(hostOf(url), host)),
      values: values.map(({ key, value }) => ({ key, json: stringifyExact(value) })),
    };
  }
}
