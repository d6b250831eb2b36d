import type { HostConfig } from '../config/host-schema.ts';
import { parseProxyList } from '../sessions/proxy-list.ts';

// A crawl of many hosts has proxies for a few of them.
const MOST_HOSTS_KEPT = 1_000;

/**
 * Which proxy what is not of the queue (robots.txt, tokens) goes through: the host's, in turn, so that a dead one costs one
 * try. A host that is reached by proxies may not be reachable without, and is not to see who asks.
 * @returns null for a host without proxies
 */
export function sideProxies(
  hostConfig: (host: string) => HostConfig,
  reveal: (text: string) => string,
): (host: string) => string | null {
  const kept = new Map<string, { urls: string[]; next: number }>();
  return (host) => {
    const { proxyUrls } = hostConfig(host).sessionPool;
    if (proxyUrls.length === 0) return null;
    let turn = kept.get(host);
    if (turn === undefined) {
      if (kept.size >= MOST_HOSTS_KEPT) kept.clear();
      turn = { urls: parseProxyList(proxyUrls.map(reveal)).map(({ url }) => url), next: 0 };
      kept.set(host, turn);
    }
    turn.next += 1;
    return turn.urls[(turn.next - 1) % turn.urls.length] ?? null;
  };
}
