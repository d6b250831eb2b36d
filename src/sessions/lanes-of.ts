import type { HostConfig } from '../config/host-schema.ts';
import { keyOf } from '../core/host.ts';
import type { Credential } from './credential.ts';
import { Lane, type LaneOptions } from './lane.ts';
import type { ProxyServer } from './proxy-list.ts';
import { Roster } from './roster.ts';

/**
 * One lane for each budget the server keeps: each credential where it counts by credential, each proxy where it counts
 * by address. A host with one budget has one lane, and the key is the host.
 */
export function lanesOf(
  config: HostConfig,
  parts: Pick<LaneOptions, 'home' | 'credentials' | 'proxies' | 'registry'>,
): Lane[] {
  const { host } = parts.home;
  const separate: Pick<LaneOptions, 'key' | 'credentials' | 'proxies'>[] =
    config.limitScope === 'address'
      ? parts.proxies.members.map((proxy) => laneOfProxy(host, proxy, parts.credentials))
      : parts.credentials.members.map((credential) => laneOfCredential(host, credential, parts.proxies));
  const capacity = Math.max(1, Math.floor(config.sessionPool.maxPoolSize / Math.max(1, separate.length)));
  if (separate.length < 2) return [new Lane({ ...parts, key: host, capacity })];
  return separate.map((own) => new Lane({ ...parts, ...own, capacity }));
}

function laneOfProxy(host: string, proxy: ProxyServer, credentials: Roster<Credential>) {
  return { key: keyOf({ host, egress: proxy.name }), credentials, proxies: new Roster([proxy]) };
}

function laneOfCredential(host: string, credential: Credential, proxies: Roster<ProxyServer>) {
  return { key: keyOf({ host, credential: credential.name }), credentials: new Roster([credential]), proxies };
}
