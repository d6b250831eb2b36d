import type { Request } from '@crawlee/core';
import type { JsonContext } from './json-context.ts';
import type { NavigationOptions } from './request-builder.ts';

/** What of Crawlee's options the crawl calls: hooks, handlers and their limits. */
export interface UserCode {
  readonly preNavigationHooks: readonly ((context: JsonContext, options: NavigationOptions) => unknown)[];
  readonly postNavigationHooks: readonly ((context: JsonContext, options: NavigationOptions) => unknown)[];
  /** The handler for a request without one of our routes; null when the user gave none for it. */
  handlerFor(request: Request): ((context: JsonContext) => unknown) | null;
  readonly errorHandler: ((context: JsonContext, error: Error) => unknown) | null;
  readonly failedRequestHandler: ((context: JsonContext, error: Error) => unknown) | null;
  /** null = the host's own setting. */
  readonly maxRequestRetries: number | null;
  readonly maxSessionRotations: number;
  readonly handlerTimeoutMs: number | null;
  isErrorStatus(status: number): boolean;
}
