import { fromFollowUp } from '../crawl/new-request.ts';
import type { RouteRegistry } from '../routes/registry.ts';
import type { NewRequest } from '../storage/store.ts';

/** The first requests of the routes, as the store takes them. */
export async function* requestsOfSeeds(
  routes: RouteRegistry,
  practiceApiUrl: string | null,
): AsyncGenerator<NewRequest> {
  // Seeds are absolute, but for those of an API whose base URL is handed in.
  const url = practiceApiUrl ?? 'http://seeds-must-be-absolute.invalid/';
  for await (const seed of routes.seeds({ practiceApiUrl })) yield fromFollowUp(seed, { url, label: seed.label });
}
