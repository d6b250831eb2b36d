import { type ApiContext, ApiProblems, systemFiles } from '../api/api-context.ts';
import { type CompiledApi, compileApi } from '../api/compile-api.ts';
import { moduleImporter } from '../api/load-module.ts';
import type { CrawlJob } from '../config/crawl-job.ts';
import { UsageError } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import { MIB } from '../core/units.ts';
import type { ValueStore } from '../storage/store.ts';
import type { SideFetch } from './side-fetch.ts';

export type DeclaredApiOptions = {
  job: CrawlJob;
  env: Readonly<Record<string, string | undefined>>;
  ports: Ports;
  values: ValueStore;
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
    throw new UsageError(
      error.problems.map(({ path, text }) => `${['api', ...path].join('.')}: ${text}`),
      { cause: error },
    );
  }
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
    samplePages: null,
  };
}
