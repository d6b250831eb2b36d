import type { Clock } from '../../core/clock.ts';
import type { ResponseHeaders } from '../../core/headers.ts';
import type { Log } from '../../core/log.ts';
import type { OutgoingRequest } from '../../routes/define-route.ts';
import type { SecretVault } from '../references.ts';

/** A request of auth's own, to a token endpoint. */
export type AuthFetch = (
  request: { url: string; method: string; headers: Record<string, string>; body: string | null },
  signal?: AbortSignal,
) => Promise<{ status: number; headers: ResponseHeaders; body: string }>;

export type AuthTools = {
  fetch: AuthFetch;
  clock: Clock;
  log: Log;
  vault: SecretVault;
  /** Token endpoints may be relative to it. */
  baseUrl: string;
};

/** What a request was sent with: no secret, only which of them (so that a token is renewed once, not once a request). */
export type AuthTicket = string;

/** Authenticates the requests of one API. */
export type Auth = {
  /**
   * @returns the request with its credentials, and a ticket for onUnauthorized
   * @throws ApiError AUTH_FAILED (the credentials are refused), AUTH_UNREACHABLE
   */
  apply(
    request: OutgoingRequest,
    signal?: AbortSignal,
  ): { request: OutgoingRequest; ticket: AuthTicket } | Promise<{ request: OutgoingRequest; ticket: AuthTicket }>;
  /**
   * The server answered 401 to a request with that ticket.
   * @returns whether there are other credentials now, so that the request is worth sending again
   */
  onUnauthorized(ticket: AuthTicket, signal?: AbortSignal): Promise<boolean>;
  /** A query parameter that carries the secret: taken out of URLs that come from the server. */
  readonly secretParam?: string;
};

/** @returns the request with one more header */
export function withHeader(request: OutgoingRequest, name: string, value: string): OutgoingRequest {
  return { ...request, headers: { ...request.headers, [name.toLowerCase()]: value } };
}
