import type { z } from 'zod';
import type { CrawlError } from '../core/errors.ts';
import type { ResponseHeaders } from '../core/headers.ts';

/** A request a route asks for. A relative URL is resolved against the page's. */
export type FollowUp = {
  url: string;
  /** The route that handles it; the page's own when left out. */
  label?: string;
  method?: string;
  payload?: string;
  headers?: Record<string, string>;
  userData?: Record<string, unknown>;
  /** What tells it apart, where method, URL and body do not (a cursor in a header, another parent). */
  uniqueKey?: string;
  /** sticky: the session of this page must send it, too; any: whichever is free. Left out = as the route says. */
  session?: SessionChoice;
};

/** Who sends what a page leads to: the session that got the page, or any. */
export type SessionChoice = 'sticky' | 'any';

/** A request as it is stored: no secret is in it. */
export type SentRequest = {
  url: string;
  method: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  payload: string | null;
};

/** A request about to be sent: secrets may be in it, so it is never stored, logged or shown in an error. */
export type OutgoingRequest = {
  url: string;
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  payload: string | null;
};

/** What `prepare` made of a request. */
export type PreparedRequest = {
  request: OutgoingRequest;
  /** Goes to `judge`: says which credentials were used, not what they are. */
  ticket: string | null;
  /** Headers that must not go along with a redirect to another origin; names in lower case. */
  secretHeaders: readonly string[];
  /** Whether the body holds a secret: then no redirect takes it to another origin. Left out = it holds none. */
  hasSecretBody?: boolean;
};

/** A response as `judge` sees it; text and body are made only when asked for. */
export type JudgedResponse = {
  /** The URL that answered, after redirects. */
  url: string;
  status: number;
  headers: ResponseHeaders;
  text: () => string;
  /** undefined when the body is no JSON. */
  body: () => unknown;
  request: SentRequest;
  userData: Record<string, unknown>;
  ticket: string | null;
};

/**
 * What a response means:
 * usual = as its status says; accept = extract, whatever the status; done = handled, nothing to extract (skipped for a
 * reason, or not), these requests follow; fail = failed for good; retry = again after a backoff or `afterMs`, which
 * costs a retry; limited = again when the host allows, as after a 429 with Retry-After (`waitMs`), at no cost.
 */
export type ResponseDecision =
  | { kind: 'usual' }
  | { kind: 'accept' }
  | { kind: 'done'; skipReason: string | null; requests: readonly FollowUp[] }
  | { kind: 'fail'; error: CrawlError }
  | { kind: 'retry'; error: CrawlError; afterMs: number | null }
  | { kind: 'limited'; reason: string; waitMs: number | null };

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
  /** The request it answers, as stored. */
  request?: SentRequest;
};

/** What a route found on a page. */
export type Extracted = {
  records?: Iterable<unknown>;
  /** Records for other datasets than the route's own. */
  recordsByDataset?: Record<string, Iterable<unknown>>;
  requests?: Iterable<FollowUp>;
  /** Records that do not fit, for dataset `invalid`; an issue reads "price: expected number". */
  invalid?: Iterable<{ issues: readonly string[]; record: unknown }>;
  /** Small JSON values of the run, written in the transaction of the records; the same key again replaces. */
  values?: Iterable<{ key: string; value: unknown }>;
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
  /**
   * Checks a record of dataset `invalid` once more, after a schema was corrected; by `record` when left out.
   * @returns the record as it is to be kept, or what is still wrong with it
   */
  recheck?: (record: unknown, userData: Record<string, unknown>) => { record: unknown } | { issues: readonly string[] };
  /** Where its records go; `default` when left out. */
  dataset?: string;
  /**
   * sticky: the next pages, which are requests with the route's own label, are sent with the identity (cookies,
   * credential, proxy) that got this one, as cursors of some APIs demand. Left out = as the host's sessionPool.sticky.
   */
  session?: SessionChoice;
  /**
   * Called before each attempt: puts in what must not be stored (credentials, references). Nothing was sent when it
   * throws: the grant goes back, and the error's recovery says what to do.
   */
  prepare?: (
    request: OutgoingRequest,
    context: { userData: Record<string, unknown>; signal: AbortSignal | undefined },
  ) => PreparedRequest | Promise<PreparedRequest>;
  /** Called with each response, whatever its status, before the governor learns of it. May throw as prepare does. */
  judge?: (response: JudgedResponse) => ResponseDecision | Promise<ResponseDecision>;
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
