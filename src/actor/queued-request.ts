import { hostOf } from '../core/host.ts';
import type { NewRequest, Outcome } from '../storage/store.ts';
import type { QueuedRequest } from './platform.ts';

type Handled = Extract<Outcome, { kind: 'handled' }>;

/** What is ours in a request of the platform's queue. */
type Own = Pick<NewRequest, 'label' | 'data'> & Partial<Pick<Handled, 'result' | 'reason'>>;

const KEY = 'millrace';

/** @returns a request as it is put into the platform's queue; handled, when its outcome is given */
export function queuedRequestOf(request: NewRequest, handled?: Handled & { atMs: number }): QueuedRequest {
  const { uniqueKey, url, method, label, data } = request;
  const own: Own = { label, data, ...(handled && { result: handled.result, reason: handled.reason }) };
  const handledAt = handled === undefined ? null : new Date(handled.atMs).toISOString();
  return { uniqueKey, url, method, handledAt, userData: { [KEY]: own } };
}

/** @returns a request of the platform's queue as it is stored; one that others have put there has a URL and no more */
export function newRequestOf({ uniqueKey, url, method, userData }: QueuedRequest): NewRequest {
  const { label = null, data = null } = (userData[KEY] ?? {}) as Partial<Own>;
  return { uniqueKey, url, host: hostOf(url), method, label, data };
}

/** @returns what became of a request; null while it waits */
export function resultOf({ handledAt, userData }: QueuedRequest): Handled | null {
  if (handledAt === null) return null;
  const { result = 'succeeded', reason = null } = (userData[KEY] ?? {}) as Partial<Own>;
  return { kind: 'handled', result, reason, patch: null };
}
