import { formatMs, formatShare } from '../../../report/format.ts';
import type { HostFacts } from '../facts.ts';
import { areSlotsFull, isHeldByLimit, isWellKnown, type Rule, setting } from '../rule.ts';

const LEAST_SHARE = 0.1;
// Of the requests, beyond the connections that any crawl opens at its start.
const LEAST_NEEDLESS_SHARE = 0.2;
const LEAST_WAITING_SHARE = 0.15;

/** HTTP/2 was turned off, and handshakes cost what it would have saved. */
export const httpVersion: Rule = ({ host, part }) => {
  if (host === null || !isWellKnown(host) || isHeldByLimit(host) || part.share < LEAST_SHARE) return null;
  if (!host.isSecure || host.config.http2 !== 'off') return null;
  if (needlessShare(host, host.config.sessionPool.proxyUrls.length) < LEAST_NEEDLESS_SHARE) return null;
  return {
    bottleneck: 'HTTP version',
    evidence: handshakeText(host),
    advice: `HTTP/2 is turned off: leave out --no-http2 (${setting(host, 'http2')}: auto), so that requests share a few connections where the server offers it.`,
  };
};

/** Each request goes to a new proxy, and so over a new connection. */
export const rotatingProxies: Rule = ({ host, part }) => {
  if (host === null || !isWellKnown(host) || isHeldByLimit(host) || part.share < LEAST_SHARE) return null;
  const { rotation, proxyUrls } = host.config.sessionPool;
  if (rotation !== 'perRequest' || proxyUrls.length === 0 || needlessShare(host) < LEAST_NEEDLESS_SHARE) return null;
  return {
    bottleneck: 'fresh handshakes',
    evidence: handshakeText(host),
    advice: `Each request takes another proxy: with ${setting(host, 'sessionPool.rotation')}: perSession connections are used again.`,
  };
};

/** The server closes its connections. */
export const freshHandshakes: Rule = ({ host, part, split }) => {
  if (host === null || !isWellKnown(host) || isHeldByLimit(host) || part.share < LEAST_SHARE) return null;
  // Each proxy needs one of its own.
  if (needlessShare(host, host.config.sessionPool.proxyUrls.length) < LEAST_NEEDLESS_SHARE) return null;
  const { maxConcurrency } = host.config;
  const overlap = areSlotsFull(split)
    ? `; until then more of them can overlap: raise ${setting(host, 'maxConcurrency')} from ${maxConcurrency} to ${maxConcurrency * 2}`
    : '';
  return {
    bottleneck: 'fresh handshakes',
    evidence: handshakeText(host),
    advice: `It does not keep its connections: probe tells for how long it does, its owner can change that${overlap}.`,
  };
};

/** Requests wait for a free stream of an HTTP/2 connection. */
export const fewStreams: Rule = ({ split, part }) => {
  const host = split.hosts[0];
  if (host === undefined || !host.isHttp2 || part.share < LEAST_WAITING_SHARE) return null;
  return {
    bottleneck: 'HTTP version',
    evidence: `Requests to ${host.host} wait for a free stream of its few HTTP/2 connections.`,
    advice: `Turn HTTP/2 off for it (${setting(host, 'http2')}: off): each request in flight then has a connection of its own.`,
  };
};

function handshakeText(host: HostFacts): string {
  const fresh = host.attempts * (1 - host.reuseShare);
  return `${formatShare(1 - host.reuseShare)} of the requests to ${host.host} opened a connection, at ${formatMs(host.handshakeMs / Math.max(fresh, 1))} each.`;
}

/** Connections beyond those that fill the slots once. */
function needlessShare({ attempts, reuseShare, config }: HostFacts, needed = 0): number {
  return Math.max(0, attempts * (1 - reuseShare) - 2 * config.maxConcurrency - needed) / attempts;
}
