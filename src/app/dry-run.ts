import type { AppCommands, CommandContext, PlannedRequest } from '../app-commands.ts';
import type { CrawlJob } from '../config/crawl-job.ts';
import { UsageError } from '../core/errors.ts';
import type { RequestData } from '../crawl/lean-request.ts';
import { fromFollowUp } from '../crawl/new-request.ts';
import { openSource } from '../queue/sources/open-source.ts';
import { redactConfig, redactUrl } from '../report/redact.ts';
import { routes as ownRoutes } from '../routes/index.ts';
import { createRouteRegistry } from '../routes/registry.ts';
import type { NewRequest } from '../storage/store.ts';
import { compileDeclaredApi } from './declared-api.ts';
import { requestsOfSeeds } from './requests-of-seeds.ts';
import { requireUsable } from './require-usable.ts';

/** How many requests are shown of the routes, and of each list. An api has as many as it has resources without parent. */
const SHOWN = 5;
/** Stands for the practice API, which is started with the crawl and at any free port. */
const PRACTICE_URL = 'http://practice-api.invalid';

/** `millrace crawl --dry-run`: what a crawl would begin with. Nothing is sent, nothing is created. */
export const dryRun: AppCommands['dryRun'] = async (job, context) => {
  if (job.source === 'resume')
    throw new UsageError(
      `--dry-run shows what an input begins with: name one. What run "${job.run}" has left: millrace status --run ${job.run}`,
    );
  await requireUsable(job, context);
  const parts = [...(await plannedOfApi(job, context)), seedsOfRoutes(job), ...plannedOfLists(job, context)];
  const requests: PlannedRequest[] = [];
  let hasMore = false;
  for (const { items, limit } of parts) {
    let taken = 0;
    for await (const item of items) {
      hasMore ||= taken === limit;
      if (taken === limit) break;
      taken += 1;
      requests.push(planned(item));
    }
  }
  return { requests, hasMore };
};

/** Requests in order, and how many of them are shown. */
type Part = { items: Iterable<NewRequest> | AsyncIterable<NewRequest>; limit: number };

async function plannedOfApi(job: CrawlJob, { env, ports }: CommandContext): Promise<Part[]> {
  const api = await compileDeclaredApi({
    job,
    env,
    ports,
    values: null,
    fetch: () => {
      throw new Error('A dry run sends nothing');
    },
  });
  if (api === null) return [];
  const items = api.firstRequests().map((request) => fromFollowUp(request, { url: request.url, label: null }));
  return [{ items, limit: items.length }];
}

function seedsOfRoutes({ source, input }: CrawlJob): Part {
  if (source !== 'routes' && !input.routes) return { items: [], limit: 0 };
  return { items: requestsOfSeeds(createRouteRegistry(ownRoutes), practiceUrlOf(source)), limit: SHOWN };
}

// The practice API is started where nothing but the routes is crawled.
function practiceUrlOf(source: CrawlJob['source']): string | null {
  return source === 'routes' ? PRACTICE_URL : null;
}

function plannedOfLists({ inputs, input }: CrawlJob, { stdin, signal }: CommandContext): Part[] {
  const { method, body } = input;
  return inputs.map((spec) => {
    const source = openSource(spec, { defaults: { method, body }, stdin, onMalformed: () => {} });
    return { items: requestsIn(source.batches({ signal })), limit: SHOWN };
  });
}

async function* requestsIn(batches: AsyncIterable<{ items: readonly { request: NewRequest }[] }>) {
  for await (const { items } of batches) for (const { request } of items) yield request;
}

/** What is shown of a request: references as they are written, what may be a secret hidden. */
function planned({ url, method, label, data }: NewRequest): PlannedRequest {
  const { headers = {}, payload = null } = data === null ? {} : (JSON.parse(data) as RequestData);
  return { method, url: redactUrl(url), label, headers: redactConfig(headers, 'headers') as typeof headers, payload };
}
