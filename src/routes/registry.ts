import { UsageError } from '../core/errors.ts';
import type { FollowUp, Route, SeedContext } from './define-route.ts';
import { RouteError, UnknownLabelError } from './route-error.ts';
import { check } from './run-route.ts';

/** The routes of a crawl, by label. */
export type RouteRegistry = {
  /** In the order given. */
  labels: readonly string[];
  /** @throws UnknownLabelError that names the known ones */
  get(label: string): Route;
  /**
   * Checks a request that is about to be added.
   * @returns it with its userData as the route's schema gives it back
   * @throws UnknownLabelError; RouteError when the userData does not fit
   */
  prepare<T extends FollowUp & { label: string }>(request: T): T;
  /** The first requests of all routes, labels filled in and checked like any other. */
  seeds(context: SeedContext): AsyncIterable<FollowUp & { label: string }>;
};

/** @throws UsageError that names every label that more than one route has */
export function createRouteRegistry(routes: readonly Route[]): RouteRegistry {
  const byLabel = new Map(routes.map((route) => [route.label, route]));
  if (byLabel.size < routes.length) throw new UsageError(describeDuplicates(routes));
  const labels = [...byLabel.keys()];

  const get = (label: string): Route => {
    const route = byLabel.get(label);
    if (route === undefined) throw new UnknownLabelError({ label, known: labels });
    return route;
  };
  const prepare: RouteRegistry['prepare'] = (request) => withCheckedUserData(get(request.label), request);
  return { labels, get, prepare, seeds: (context) => seedsOf(routes, { context, prepare }) };
}

type Seeding = { context: SeedContext; prepare: RouteRegistry['prepare'] };

async function* seedsOf(routes: readonly Route[], { context, prepare }: Seeding) {
  for (const { seeds, label } of routes) {
    for await (const seed of seeds?.(context) ?? []) yield prepare({ ...seed, label: seed.label ?? label });
  }
}

function withCheckedUserData<T extends FollowUp>(route: Route, request: T): T {
  if (route.userData === undefined) return request;
  const checked = check(route.userData, request.userData ?? {});
  if ('value' in checked) return { ...request, userData: checked.value };
  const problem = `cannot take the userData of ${request.url}: ${checked.issues.join('; ')}`;
  throw new RouteError({ label: route.label, problem });
}

function describeDuplicates(routes: readonly Route[]): string[] {
  const labels = routes.map(({ label }) => label);
  const repeated = new Set(labels.filter((label, index) => labels.indexOf(label) < index));
  return [...repeated].map((label) => `Two routes have the label "${label}" in src/routes/index.ts: rename one`);
}
