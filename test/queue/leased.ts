import { bindToSession } from '../../src/queue/bound-session.ts';
import type { LeasedRequest } from '../../src/storage/store.ts';

let nextId = 1;

/** A leased request of a host, as the store would hand it out. */
export function leased(host: string, path = '/'): LeasedRequest {
  const requestId = nextId++;
  const url = `http://${host}${path}`;
  return {
    lease: { requestId, token: requestId * 10 },
    id: `id-${requestId}`,
    uniqueKey: url,
    url,
    host,
    method: 'GET',
    label: null,
    data: null,
    patch: null,
    claims: 1,
    addedAtMs: 0,
  };
}

/** One that only the session may send. */
export function leasedFor(sessionId: string, host: string, path = '/'): LeasedRequest {
  return bindToSession(leased(host, path), sessionId);
}
