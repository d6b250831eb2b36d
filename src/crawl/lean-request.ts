import { Request } from '@crawlee/core';
import type { LeasedRequest } from '../storage/store.ts';

/** What `NewRequest.data` holds: the parts of a Crawlee Request that are not at their defaults. */
export type RequestData = {
  /** Id of the session that must send it; left out = any may. Always the first key, see src/queue/bound-session.ts. */
  session?: string;
  payload?: string;
  headers?: Record<string, string>;
  /** Without `label`, which has a column of its own. */
  userData?: Record<string, unknown>;
  /** Crawlee's own bookkeeping: crawlDepth, maxRetries, skipNavigation, enqueueStrategy, ... */
  crawlee?: Record<string, unknown>;
  noRetry?: boolean;
};

/** What a retry leaves behind for the next attempt. */
export type RequestPatch = {
  retryCount?: number;
  /** Attempts that ended, whatever they cost: what tells a request that kills its process from one that waits. */
  completedAttempts?: number;
  errorMessages?: string[];
  /** Epoch ms of the first attempt. */
  firstAtMs?: number;
  /** Epoch ms of the first attempt in a row that ended with a wait. */
  waitingSinceMs?: number;
  /** The request's data, URL and method, where a hook or handler changed them. */
  data?: RequestData;
  url?: string;
  method?: string;
};

/**
 * A Crawlee Request built without its constructor, which validates each field and defines each property anew: 15 to
 * 25 microseconds a request, where the fields come from our own store. `instanceof Request` holds, all methods work.
 */
class LeanRequest {
  id: string;
  url: string;
  loadedUrl: string | undefined = undefined;
  uniqueKey: string;
  method: string;
  payload: string | undefined;
  noRetry: boolean;
  retryCount: number;
  errorMessages: string[];
  headers: Record<string, string>;
  handledAt: string | undefined = undefined;
  #userData: Record<string, unknown> | null = null;
  readonly #stored: RequestData;
  readonly #label: string | null;

  constructor(leased: LeasedRequest, data: RequestData, patch: RequestPatch) {
    this.id = leased.id;
    this.url = patch.url ?? leased.url;
    this.uniqueKey = leased.uniqueKey;
    this.method = patch.method ?? leased.method;
    this.payload = data.payload;
    this.noRetry = data.noRetry ?? false;
    this.retryCount = patch.retryCount ?? 0;
    this.errorMessages = patch.errorMessages ?? [];
    this.headers = data.headers ?? {};
    this.#stored = data;
    this.#label = leased.label;
  }

  /** Asked of every request, most of which nobody asks for more. */
  get skipNavigation(): boolean {
    const meta = this.#userData === null ? this.#stored.crawlee : (this.#userData.__crawlee as RequestData['crawlee']);
    return (meta?.skipNavigation as boolean | undefined) ?? false;
  }

  set skipNavigation(value: boolean) {
    (this.userData.__crawlee as Record<string, unknown>).skipNavigation = value;
  }

  get userData(): Record<string, unknown> {
    this.#userData ??= withCrawleeMeta({ ...this.#stored.userData, ...labelOf(this.#label) }, this.#stored.crawlee);
    return this.#userData;
  }

  set userData(value: Record<string, unknown>) {
    const meta = this.userData.__crawlee as Record<string, unknown>;
    this.#userData = withCrawleeMeta(value, meta);
  }
}

// Methods, and accessors such as label and crawlDepth, are Crawlee's own.
Object.setPrototypeOf(LeanRequest.prototype, Request.prototype);

function labelOf(label: string | null): { label?: string } {
  return label === null ? {} : { label };
}

function withCrawleeMeta(
  userData: Record<string, unknown>,
  meta: Record<string, unknown> = {},
): Record<string, unknown> {
  Object.defineProperty(userData, '__crawlee', {
    value: { ...meta },
    enumerable: false,
    writable: true,
    configurable: true,
  });
  return userData;
}

const NO_DATA: RequestData = {};
const NO_PATCH: RequestPatch = {};

/** A leased request with what is stored of it, read. */
export type OpenRequest = { request: Request; data: RequestData; patch: RequestPatch };

/** Builds the Request that hooks and handlers see. */
export function openRequest(leased: LeasedRequest): OpenRequest {
  const patch = leased.patch === null ? NO_PATCH : (JSON.parse(leased.patch) as RequestPatch);
  const data = patch.data ?? (leased.data === null ? NO_DATA : (JSON.parse(leased.data) as RequestData));
  return { request: new LeanRequest(leased, data, patch) as unknown as Request, data, patch };
}

/** What must be stored for the next attempt of a request that user code may have changed. */
export function changesOf(request: Request, leased: LeasedRequest): Pick<RequestPatch, 'data' | 'url' | 'method'> {
  return {
    data: dataOf(request) ?? {},
    ...(request.url === leased.url ? {} : { url: request.url }),
    ...(request.method === leased.method ? {} : { method: request.method }),
  };
}

/** @returns what `NewRequest.data` should hold of a request; undefined when all is at its default */
export function dataOf(
  request: Pick<Request, 'payload' | 'headers' | 'userData' | 'noRetry'>,
): RequestData | undefined {
  const { label: _label, ...userData } = request.userData as Record<string, unknown>;
  const meta = (request.userData as Record<string, unknown>).__crawlee as Record<string, unknown> | undefined;
  const data: RequestData = {};
  if (request.payload !== undefined) data.payload = request.payload;
  if (request.headers !== undefined && Object.keys(request.headers).length > 0) data.headers = request.headers;
  delete userData.__crawlee;
  if (Object.keys(userData).length > 0) data.userData = userData;
  if (meta !== undefined && Object.keys(meta).length > 0) data.crawlee = meta;
  if (request.noRetry) data.noRetry = true;
  return Object.keys(data).length > 0 ? data : undefined;
}
