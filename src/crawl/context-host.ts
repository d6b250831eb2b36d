import type { Dictionary, Request, Session } from '@crawlee/core';
import type { RequestSource } from './new-request.ts';
import type { PendingWork } from './pending-work.ts';

/** What a context needs of its crawler. */
export interface ContextHost {
  readonly crawler: unknown;
  readonly log: unknown;
  readonly defaultDataset: string;
  readonly maxCrawlDepth: number | undefined;
  /** How many more requests may be added, by maxRequestsPerCrawl and the caller's own limit; undefined = any number. */
  roomFor(limit: number | undefined): number | undefined;
  /** Tells the user's onSkippedRequest. */
  skipped(facts: { url: string; reason: 'depth' | 'limit' | 'redirect' }): Promise<void>;
  /** Throws Crawlee's RequestValidationError when userData does not fit the label's schema. */
  validateUserData(source: RequestSource): Promise<void>;
  enqueueLinks(options: Dictionary, request: Request, queue: { addRequestsBatched: unknown }): Promise<unknown>;
  useState<State extends Dictionary>(defaultValue: State): Promise<State>;
  /** The state, as it is when the request is acknowledged, goes into its transaction. */
  markStateUsed(work: PendingWork): void;
  sendRequestFor(request: Request, session: Session | undefined, proxyUrl: string | undefined): unknown;
  openKeyValueStore(idOrName?: string): Promise<unknown>;
}
