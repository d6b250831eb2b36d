import type { Request } from '@crawlee/core';
import type { HttpResponse } from '../http/client.ts';
import type { Taken } from '../queue/host-scheduler.ts';
import type { Route } from '../routes/define-route.ts';
import type { HostSession } from '../sessions/session-pools.ts';
import type { LeasedRequest } from '../storage/store.ts';
import type { JsonContext } from './json-context.ts';
import type { RequestData, RequestPatch } from './lean-request.ts';
import type { PendingWork } from './pending-work.ts';

/** One request being worked on, from its grant to its acknowledgement. */
export type Job = {
  readonly taken: Taken;
  readonly leased: LeasedRequest;
  readonly request: Request;
  readonly data: RequestData;
  readonly patch: RequestPatch;
  /** Another one when the response made its sender a new visitor. */
  session: HostSession;
  /** What it writes; a new one when the handler was timed out and may still write late. */
  work: PendingWork;
  /** Monotonic. */
  readonly startedAtMs: number;
  /** Epoch ms of the first attempt, this one if there was none before. */
  readonly firstAtMs: number;
  /** Made only when a hook or handler of the user's asks for it. */
  context: JsonContext | null;
  /** The last response; null while there is none. */
  response: HttpResponse | null;
  /** The proxy it was sent by; null = none. */
  proxyUrl: string | null;
  /** What handles it; all null until it is about to be sent. */
  route: Route | null;
  handler: ((context: JsonContext) => unknown) | null;
  /** Why it counts as skipped though it was answered; null = it does not. */
  skipReason: string | null;
  /** How long a route wants the next attempt to wait, ms; null = as the retry policy says. */
  retryAfterMs: number | null;
  /** Set for a request that a process has died with: called when work on it has ended. */
  endSuspicion: (() => void) | null;
  /** Whether it holds one of the crawl's slots: until its answer is there, or the user's handler has ended. */
  holdsSlot: boolean;
  /** Whether user code may have changed the request. */
  isExposed: boolean;
};
