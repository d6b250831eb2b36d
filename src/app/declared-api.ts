import { type ApiContext, ApiProblems, systemFiles } from '../api/api-context.ts';
import { type CompiledApi, compileApi, inspectApi } from '../api/compile-api.ts';
import { moduleImporter } from '../api/load-module.ts';
import type { CrawlJob } from '../config/crawl-job.ts';
import type { Problem } from '../config/describe-issues.ts';
import { UsageError } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import { MIB } from '../core/units.ts';
import type { ValueStore } from '../storage/store.ts';
import type { SideFetch } from './side-fetch.ts';

export type DeclaredApiOptions = {
  job: Pick<CrawlJob, 'input' | 'baseDir' | 'samplePages'>;
  env: Readonly<Record<string, string | undefined>>;
  ports: Ports;
  /** null = nothing is remembered. */
  values: ValueStore | null;
  /** Asked for late: the crawl it belongs to is put together after the api. */
  fetch: () => SideFetch;
};

const MOST_TOKEN_BYTES = MIB;

/**
 * The api of the input document, compiled to routes; null when it has none.
 * @throws UsageError with every problem
 */
export async function compileDeclaredApi(options: DeclaredApiOptions): Promise<CompiledApi | null> {
  const { api } = options.job.input;
  if (api === undefined) return null;
  try {
    return await compileApi(api, contextOf(options));
  } catch (error) {
    if (!(error instanceof ApiProblems)) throw error;
    throw asUsageError(error.problems);
  }
}

/**
 * Checks the api of a document without a request.
 * @throws UsageError with every problem
 */
export async function inspectDeclaredApi(job: CrawlJob, env: DeclaredApiOptions['env']): Promise<void> {
  const { api } = job.input;
  if (api === undefined) return;
  const { pathOf, ...files } = systemFiles(job.baseDir, env);
  const problems = await inspectApi(api, { ...files, importModule: moduleImporter(pathOf) });
  if (problems.length > 0) throw asUsageError(problems);
}

function asUsageError(problems: readonly Problem[]): UsageError {
  return new UsageError(problems.map(({ path, text }) => `${['api', ...path].join('.')}: ${text}`));
}

function contextOf({ job, env, ports, values, fetch }: DeclaredApiOptions): ApiContext {
  const { pathOf, ...files } = systemFiles(job.baseDir, env);
  return {
    ...files,
    importModule: moduleImporter(pathOf),
    fetch: async (request, signal) => {
      const { status, headers, body } = await fetch()({ ...request, maxBodyBytes: MOST_TOKEN_BYTES }, signal);
      return { status, headers, body: body.toString('utf8') };
    },
    clock: ports.clock,
    log: ports.log,
    values,
    samplePages: job.samplePages,
  };
}
