import type { HostConfig } from '../config/host-schema.ts';
import type { Clock } from '../core/clock.ts';
import type { EventSink } from '../core/events.ts';
import type { Governor } from '../governor/governor.ts';
import { createRobotsPolicy, type RobotsPolicy } from '../governor/robots/robots-policy.ts';
import type { ValueStore } from '../storage/store.ts';
import type { SideFetch } from './side-fetch.ts';

export type RobotsOptions = {
  productToken: string;
  userAgent: string;
  /** As for any response: the parser cuts off what RFC 9309 2.5 allows to be ignored. */
  maxBodyBytes: number;
  hostConfig: (host: string) => HostConfig;
  governor: Governor;
  fetch: SideFetch;
  values: ValueStore;
  clock: Clock;
  onEvent: EventSink;
};

/** robots.txt by the crawl's own client and pacing. */
export function createRobots(options: RobotsOptions): RobotsPolicy {
  const { hostConfig, governor, values, clock, onEvent, productToken, userAgent, maxBodyBytes, fetch } = options;
  const headers = { 'user-agent': userAgent, accept: 'text/plain, */*;q=0.5', 'accept-encoding': 'gzip, deflate, br' };
  return createRobotsPolicy({
    fetchText: async (url, signal) => {
      const request = { url, method: 'GET', headers, body: null, maxBodyBytes };
      const response = await fetch(request, signal);
      return { status: response.status, headers: response.headers, text: response.body.toString('utf8') };
    },
    clock,
    productToken,
    store: values,
    onEvent,
    stallSecsOf: (host) => hostConfig(host).stallSecs,
    isIgnored: (host) => hostConfig(host).robots === 'ignore',
    isDead: (host) => governor.deadReason(host) !== null,
  });
}
