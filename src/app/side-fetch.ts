import type { HostConfig } from '../config/host-schema.ts';
import type { Clock } from '../core/clock.ts';
import { hostOf } from '../core/host.ts';
import { type HttpClient, type HttpResponse, NETWORK_FAILURE_OF } from '../http/client.ts';
import { HttpError } from '../http/http-error.ts';
import { awaitGrant, type HostGate } from './send-gate.ts';

export type SideRequest = {
  url: string;
  method: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string | null;
  maxBodyBytes: number;
};

/** Sends a request that is not of the queue (robots.txt, tokens), by the crawl's own client and pacing. */
export type SideFetch = (request: SideRequest, signal?: AbortSignal) => Promise<HttpResponse>;

export type SideFetchOptions = {
  /** Asked for late: the gate is built after those who fetch. */
  gate: () => HostGate;
  client: HttpClient;
  hostConfig: (host: string) => HostConfig;
  /** The proxy to go through this time; null = none. */
  proxyFor: (host: string) => string | null;
  clock: Clock;
};

export function createSideFetch({ gate, client, hostConfig, proxyFor, clock }: SideFetchOptions): SideFetch {
  return async (request, signal) => {
    const host = hostOf(request.url);
    const key = await awaitGrant(gate(), host, { clock, signal });
    const { timeouts, http2 } = hostConfig(host);
    const sentAtMs = clock.nowMs();
    let response: HttpResponse | null = null;
    let failure: HttpError | null = null;
    try {
      response = await client.send({ ...request, timeouts, http2, proxyUrl: proxyFor(host) }, signal);
      return response;
    } catch (error) {
      failure = error instanceof HttpError ? error : null;
      throw error;
    } finally {
      gate().finish({
        key,
        origin: new URL(request.url).origin,
        sentAtMs,
        endedAtMs: clock.nowMs(),
        status: response?.status ?? null,
        failure: response ? null : failure ? NETWORK_FAILURE_OF[failure.code] : 'aborted',
        headers: response?.headers ?? {},
        wallMs: clock.wallMs(),
        bodyText: null,
        overloaded: false,
        isAside: true,
      });
      gate().released(host);
    }
  };
}
