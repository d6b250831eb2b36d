import type { CrawlJob, FileSpec } from '../config/crawl-job.ts';
import { deepFreeze } from '../config/deep-freeze.ts';
import { loadInput } from '../config/load-input.ts';
import { documentSources, listFileSpec } from '../config/source-specs.ts';
import { UsageError } from '../core/errors.ts';

/** The run of an Actor: one a container, so its name does not matter to anybody. */
export const ACTOR_RUN = 'actor';

export type ActorSurroundings = {
  /** Absolute. */
  storageDir: string;
  /** Lists of URLs that have been fetched, absolute. */
  lists: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
};

/**
 * The job that the input of an Actor run makes.
 * @throws UsageError with every problem
 */
export function actorJob(document: unknown, { storageDir, lists, env }: ActorSurroundings): CrawlJob {
  const loaded = loadInput({ value: document, placeOf: () => 'input' }, []);
  const { input } = loaded;
  const inputs = [
    ...documentSources(input, { name: 'the input', baseDir: storageDir }),
    ...lists.map((path, index): FileSpec => {
      const name = `list ${index + 1} of startUrls`;
      return { ...listFileSpec({ path, name, urlColumn: input.urlColumn }), format: 'auto' };
    }),
  ];
  if (inputs.length === 0 && input.api === undefined && !input.routes)
    throw new UsageError('The input names nothing to crawl: give startUrls, api, or routes: true.');
  return deepFreeze({
    ...loaded,
    baseDir: storageDir,
    source: 'given',
    inputs,
    run: ACTOR_RUN,
    runGiven: true,
    storageDir,
    fresh: false,
    refresh: input.refresh,
    samplePages: null,
    join: false,
    outputs: [],
    csv: {},
    // The platform's datasets are downloaded in any format.
    exportAtEnd: false,
    report: null,
    force: false,
    json: false,
    progress: 'auto',
    quiet: false,
    ...webServerOf(env),
  });
}

/** The live page is served where the platform expects an Actor's web server. */
function webServerOf(env: ActorSurroundings['env']): Pick<CrawlJob, 'ui'> {
  const port = Number(env.ACTOR_WEB_SERVER_PORT);
  if (!(port > 0)) return {};
  const url = URL.parse(env.ACTOR_WEB_SERVER_URL ?? '');
  return { ui: { address: '0.0.0.0', port, ...(url === null ? {} : { hostNames: [url.hostname] }) } };
}
