import type { ProxyInfo, Request } from '@crawlee/core';
import type { JsonContext } from './json-context.ts';
import type { NavigationOptions } from './request-builder.ts';

/** What of Crawlee's options the crawl calls: hooks, handlers and their limits. */
export interface UserCode {
  readonly preNavigationHooks: readonly ((context: JsonContext, options: NavigationOptions) => unknown)[];
  readonly postNavigationHooks: readonly ((context: JsonContext, options: NavigationOptions) => unknown)[];
  /** The handler for a request without one of our routes; null when the user gave none for it. */
  handlerFor(request: Request): ((context: JsonContext) => unknown) | null;
  /** Labels that have a handler, as far as they can be known. */
  knownLabels(): readonly string[];
  /** The user's own choice of proxies, asked once an attempt; null = those of the sessions. */
  readonly newProxyInfo: ((sessionId: string, request: Request) => Promise<ProxyInfo | undefined>) | null;
  /** Whether a body of this content type (without parameters) is wanted though it is no JSON. */
  takesType(type: string): boolean;
  /** Whether the URL that answered is within the enqueueStrategy the request was found by. */
  staysInStrategy(request: Request): boolean;
  readonly errorHandler: ((context: JsonContext, error: Error) => unknown) | null;
  readonly failedRequestHandler: ((context: JsonContext, error: Error) => unknown) | null;
  /** null = the host's own setting. */
  readonly maxRequestRetries: number | null;
  readonly maxSessionRotations: number;
  readonly handlerTimeoutMs: number | null;
  /** How long errorHandler and failedRequestHandler may take. */
  readonly internalTimeoutMs: number;
  isErrorStatus(status: number): boolean;
  /** Whether the user takes a status for an answer, though it asks for less: `ignoreHttpErrorStatusCodes`. */
  wantsStatus(status: number): boolean;
}
