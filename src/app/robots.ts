import type { HostConfig } from '../config/host-schema.ts';
import type { EventSink } from '../core/events.ts';
import { hostOf } from '../core/host.ts';
import type { Ports } from '../core/ports.ts';
import type { Governor } from '../governor/governor.ts';
import type { FetchText } from '../governor/robots/fetch-robots.ts';
import { createRobotsPolicy, type RobotsPolicy } from '../governor/robots/robots-policy.ts';
import { type HttpClient, type HttpResponse, NETWORK_FAILURE_OF } from '../http/client.ts';
import { HttpError } from '../http/http-error.ts';
import type { ValueStore } from '../storage/store.ts';
import { awaitGrant, type HostGate } from './send-gate.ts';

export type RobotsOptions = {
  productToken: string;
  userAgent: string;
  hostConfig: (host: string) => HostConfig;
  governor: Governor;
  client: HttpClient;
  values: ValueStore;
  ports: Ports;
  onEvent: EventSink;
  /** The gate is built after the policy it asks. */
  gate: () => HostGate;
};

// RFC 9309 2.5: parse at least 500 KiB. What lies beyond is cut off by the parser, so a little more is fetched.
const MOST_ROBOTS_BYTES = 1024 * 1024;

/** robots.txt by the crawl's own client and pacing. */
export function createRobots(options: RobotsOptions): RobotsPolicy {
  const { hostConfig, governor, values, ports, onEvent, productToken } = options;
  return createRobotsPolicy({
    fetchText: (url, signal) => fetchText(options, url, signal),
    clock: ports.clock,
    productToken,
    store: values,
    onEvent,
    stallSecsOf: (host) => hostConfig(host).stallSecs,
    isIgnored: (host) => hostConfig(host).robots === 'ignore',
    isDead: (host) => governor.deadReason(host) !== null,
  });
}

async function fetchText(options: RobotsOptions, url: string, signal: AbortSignal): ReturnType<FetchText> {
  const { clock } = options.ports;
  const host = hostOf(url);
  const key = await awaitGrant(options.gate(), host, { clock, signal });
  const sentAtMs = clock.nowMs();
  let response: HttpResponse | null = null;
  let failure: HttpError | null = null;
  try {
    response = await send(options, { url, host, signal });
    return { status: response.status, headers: response.headers, text: response.body.toString('utf8') };
  } catch (error) {
    failure = error instanceof HttpError ? error : null;
    throw error;
  } finally {
    options.gate().finish({
      key,
      origin: new URL(url).origin,
      sentAtMs,
      endedAtMs: clock.nowMs(),
      status: response?.status ?? null,
      failure: response ? null : failure ? NETWORK_FAILURE_OF[failure.code] : 'aborted',
      headers: response?.headers ?? {},
      wallMs: clock.wallMs(),
      bodyText: null,
      overloaded: false,
    });
    options.gate().released(host);
  }
}

function send(
  { client, hostConfig, userAgent }: RobotsOptions,
  { url, host, signal }: { url: string; host: string; signal: AbortSignal },
): Promise<HttpResponse> {
  const { timeouts, http2 } = hostConfig(host);
  const headers = { 'user-agent': userAgent, accept: 'text/plain, */*;q=0.5', 'accept-encoding': 'gzip, deflate, br' };
  const request = {
    url,
    method: 'GET',
    headers,
    body: null,
    timeouts,
    maxBodyBytes: MOST_ROBOTS_BYTES,
    proxyUrl: null,
    http2,
  };
  return client.send(request, signal);
}
