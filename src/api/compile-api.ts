import type { ApiConfig } from '../config/api-schema.ts';
import type { Problem } from '../config/describe-issues.ts';
import { defineRoute, type FollowUp, type Route } from '../routes/define-route.ts';
import { type ApiContext, type ApiFiles, ApiProblems } from './api-context.ts';
import { createAuth } from './auth/create-auth.ts';
import { checkApi } from './check-api.ts';
import { type ExtractContext, extractPage, templateScope } from './extract-page.ts';
import { type FinishedResource, finishApi, incrementKey } from './finish-api.ts';
import { firstRequest } from './first-request.ts';
import { type IncrementalState, type IncrementalWindow, openWindow } from './incremental.ts';
import { judgeResponse } from './judge-response.ts';
import { KeepOnce } from './keep-once.ts';
import { type LoadedParts, loadParts } from './load-parts.ts';
import { keyReader } from './page-facts.ts';
import { pageFollowUp, ROOT_FRAME } from './page-state.ts';
import { withoutParam } from './paginate/edit-request.ts';
import { type PrepareContext, prepareRequest } from './prepare-request.ts';
import { recheckRecord } from './recheck-record.ts';
import { SecretVault } from './references.ts';
import { createRuntime, type ResourceRuntime, takePage } from './resource-runtime.ts';
import { buildTree, type ResourceTree } from './resource-tree.ts';
import { type Resource, resolveResources } from './resources.ts';

/** An api as the crawl takes it. */
export type CompiledApi = {
  /** One a resource; label = its name. Those without a parent have seeds. */
  routes: readonly Route[];
  /** The origin that credentials go to. */
  origin: string;
  /** First requests, references not filled in: for --dry-run. */
  firstRequests(): FollowUp[];
  /**
   * To be called when no request is pending any more: reckons completeness, and moves the increments of resources
   * without a failure.
   * @param failures failed requests by label
   */
  finish(failures: ReadonlyMap<string, number>): Promise<FinishedResource[]>;
  /** Takes known secrets out of a text: for whatever is shown or stored of a request that failed. */
  conceal(text: string): string;
};

/**
 * Everything that can be found wrong with an api without a request.
 * @returns problems with their paths within `api`
 */
export async function inspectApi(api: ApiConfig, files: ApiFiles): Promise<Problem[]> {
  const { problems } = await loadParts(api, files);
  return [...checkApi(api, files.secrets), ...problems];
}

/**
 * Compiles a declared api to routes.
 * @throws ApiProblems
 */
export async function compileApi(api: ApiConfig, context: ApiContext): Promise<CompiledApi> {
  const { parts, problems } = await loadParts(api, context);
  const all = [...checkApi(api, context.secrets), ...problems];
  if (all.length > 0) throw new ApiProblems(all);
  const vault = new SecretVault(context.secrets);
  const baseUrl = resolveBaseUrl(api.baseUrl, vault);
  const { tree } = buildTree(resolveResources(api));
  const runtimes = await createRuntimes(tree, parts, context);
  const auth = createAuth(api.auth, { ...context, vault, baseUrl }, () => parts.authFactory!);
  const concealUrl = (url: string): string => concealInUrl(url, { vault, secretParam: auth.secretParam });
  const prepareContext = { origin: new URL(baseUrl).origin, headers: lowerCased(api.headers), auth, vault };
  const contexts: RouteContexts = { extract: { baseUrl, runtimes, concealUrl }, prepare: prepareContext };
  return {
    routes: [...runtimes.values()].map((runtime) => routeOf(runtime, contexts)),
    origin: prepareContext.origin,
    firstRequests: () => [...runtimes.values()].flatMap((runtime) => seedsOf(runtime, baseUrl)),
    async finish(failures) {
      return context.values === null ? [] : finishApi(runtimes, { values: context.values, failures });
    },
    conceal: (text) => vault.conceal(text),
  };
}

type RouteContexts = { extract: ExtractContext; prepare: PrepareContext };

function routeOf(runtime: ResourceRuntime, contexts: RouteContexts): Route {
  const { resource } = runtime;
  const { baseUrl } = contexts.extract;
  return defineRoute({
    label: resource.name,
    dataset: resource.dataset,
    ...(resource.session === null ? {} : { session: resource.session }),
    seeds: () => seedsOf(runtime, baseUrl).filter(() => takePage(runtime)),
    prepare: (request, sending) => prepareRequest(request, sending, contexts.prepare),
    judge: (response) => judgeResponse(runtime, response, { baseUrl, auth: contexts.prepare.auth }),
    extract: (page) => extractPage(runtime, page, contexts.extract),
    recheck: (record, userData) => recheckRecord(runtime, record, userData),
  });
}

function seedsOf(runtime: ResourceRuntime, baseUrl: string): FollowUp[] {
  if (runtime.node.parent !== null) return [];
  const request = firstRequest(runtime.resource, baseUrl, templateScope(runtime, ROOT_FRAME));
  return [
    pageFollowUp(runtime.resource.name, runtime.listing.first(request), {
      frame: ROOT_FRAME,
      doom: null,
      guessedPath: null,
    }),
  ];
}

/** Takes secrets out of a URL the server gave; its origin stays, whatever is known as a secret. */
function concealInUrl(
  url: string,
  { vault, secretParam }: { vault: SecretVault; secretParam: string | undefined },
): string {
  const [origin = ''] = /^https?:\/\/[^/?#]*/i.exec(url) ?? [];
  const bare = secretParam === undefined ? url : withoutParam(url, secretParam);
  return `${origin}${vault.conceal(bare.slice(origin.length))}`;
}

/** The origin is no secret: it is what the run shows. What follows it may be one, and stays a reference. */
export function resolveBaseUrl(baseUrl: string, vault: SecretVault): string {
  const [head = ''] = /^(\$\{[^{}]+\}|https?:\/\/[^/?#]*)/i.exec(baseUrl) ?? [];
  return `${vault.revealOpenly(head)}${baseUrl.slice(head.length)}`;
}

async function createRuntimes(
  tree: ResourceTree,
  parts: LoadedParts,
  context: ApiContext,
): Promise<Map<string, ResourceRuntime>> {
  const runtimes = new Map<string, ResourceRuntime>();
  const keepers = await createKeepers(tree, context);
  for (const [name, node] of tree) {
    const window = await windowOf(node.resource, context);
    const check = parts.checks.get(name) ?? null;
    const keepOnce = keepers.get(name) ?? null;
    runtimes.set(name, createRuntime(node, { window, check, keepOnce, code: parts.code, ...context }));
  }
  return runtimes;
}

/** One for all resources that write the same key into the same dataset. */
async function createKeepers(tree: ResourceTree, { values }: ApiContext): Promise<Map<string, KeepOnce>> {
  const byDataset = new Map<string, KeepOnce>();
  const byResource = new Map<string, KeepOnce>();
  for (const [name, { resource }] of tree) {
    if (resource.primaryKey.length === 0) continue;
    const id = JSON.stringify([resource.dataset, resource.primaryKey]);
    const keeper = byDataset.get(id) ?? new KeepOnce(keyReader(resource.primaryKey));
    if (values !== null) await keeper.learn(name, values);
    byDataset.set(id, keeper);
    byResource.set(name, keeper);
  }
  return byResource;
}

async function windowOf({ name, endpoint }: Resource, { values }: ApiContext): Promise<IncrementalWindow | null> {
  if (endpoint.incremental === null) return null;
  const state = await values?.get<IncrementalState>(incrementKey(name));
  return openWindow(endpoint.incremental, state ?? null);
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
