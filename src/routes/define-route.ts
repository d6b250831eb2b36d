import type { z } from 'zod';

/** A request a route asks for. A relative URL is resolved against the page's. */
export type FollowUp = {
  url: string;
  /** The route that handles it; the page's own when left out. */
  label?: string;
  method?: string;
  payload?: string;
  headers?: Record<string, string>;
  userData?: Record<string, unknown>;
};

/** One response, as a route sees it. */
export type Page<Body = unknown, UserData = Record<string, unknown>> = {
  /** The URL that answered, after redirects. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  /** The parsed body, checked by the route's response schema. */
  body: Body;
  userData: UserData;
};

/** What a route found on a page. */
export type Extracted = {
  records?: Iterable<unknown>;
  /** Records for other datasets than the route's own. */
  recordsByDataset?: Record<string, Iterable<unknown>>;
  requests?: Iterable<FollowUp>;
};

export type SeedContext = {
  /** Base URL of the practice API started in this process; null when none is. */
  practiceApiUrl: string | null;
};

/** One kind of response of one API: where it starts, what it looks like, what it yields. */
export type RouteDefinition<Body = unknown, UserData = Record<string, unknown>> = {
  /** Requests carry it; unique among all routes. */
  label: string;
  /** First requests; a route that is only followed up has none. */
  seeds?: (context: SeedContext) => Iterable<FollowUp> | AsyncIterable<FollowUp>;
  /** Checked when a request is added. */
  userData?: z.ZodType<UserData>;
  /** The shape of the body. One that does not fit goes to dataset `invalid`, whole. */
  response?: z.ZodType<Body>;
  /** The shape of one record. One that does not fit goes to dataset `invalid`; the others are kept. */
  record?: z.ZodType;
  /** Where its records go; `default` when left out. */
  dataset?: string;
  /** A pure function: page in, records and follow-up requests out. */
  extract: (page: Page<Body, UserData>) => Extracted;
};

/** A route as the crawler takes it, whatever its types. */
// biome-ignore lint/suspicious/noExplicitAny: extract is contravariant in the body, so no other type holds every route
export type Route = RouteDefinition<any, any>;

/**
 * Defines a route; the types of body and userData come from its schemas.
 * @throws TypeError when the label is empty
 */
export function defineRoute<Body = unknown, UserData = Record<string, unknown>>(
  definition: RouteDefinition<Body, UserData>,
): Route {
  if (definition.label.trim() === '')
    throw new TypeError('A route needs a label: defineRoute({ label: "products", ... })');
  return Object.freeze({ ...definition });
}
