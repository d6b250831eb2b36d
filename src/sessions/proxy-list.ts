import { UsageError } from '../core/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../core/units.ts';
import { Health } from './health.ts';
import type { Member } from './roster.ts';

/** A proxy and how it fares with one host. `url` may hold a password; `name` never does. */
export type ProxyServer = Member & { readonly url: string };

// One cut connection is soon forgiven; a dead proxy is asked every ten minutes.
const PROXY_REST = { firstRestMs: SECOND_MS, longestRestMs: 10 * MINUTE_MS };
const PROTOCOLS: ReadonlySet<string> = new Set([
  'http:',
  'https:',
  'socks:',
  'socks4:',
  'socks4a:',
  'socks5:',
  'socks5h:',
]);
// As proxy sellers write their lists: host:port, or host:port:user:password.
const BARE = /^([^\s:/@]+):(\d+)(?::([^:]+):(.+))?$/;

/**
 * Reads the configured proxies.
 * @param entries each a proxy, or a text of several, one a line: what `${file:proxies.txt}` becomes. A line that starts
 *   with "#" is a comment. http, https and socks URLs, host:port and host:port:user:password
 * @throws UsageError naming the lines that cannot be read, without their text, which may hold a password
 */
export function parseProxyList(entries: readonly string[]): ProxyServer[] {
  const lines = entries.flatMap((entry) => entry.split(/[\r\n]+/)).map((line) => line.trim());
  const proxies: ProxyServer[] = [];
  const problems: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const url = readProxyUrl(line);
    if (url === null) problems.push(`sessionPool.proxyUrls: line ${index + 1} is no http, https or socks URL`);
    else proxies.push({ url: url.href, name: uniqueName(url, proxies), health: new Health(PROXY_REST) });
  }
  if (problems.length > 0) throw new UsageError(problems);
  return proxies;
}

function readProxyUrl(line: string): URL | null {
  const url = URL.parse(bareToUrl(line));
  return url !== null && url.hostname !== '' && PROTOCOLS.has(url.protocol) ? url : null;
}

function bareToUrl(line: string): string {
  const [, host, port, user, password] = BARE.exec(line) ?? [];
  if (host === undefined) return line;
  const userInfo = user === undefined ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}@`;
  return `http://${userInfo}${host}:${port}`;
}

/** Host and port; numbered where several users of one gateway are several proxies. */
function uniqueName(url: URL, proxies: readonly ProxyServer[]): string {
  const { host } = url;
  const namesakes = proxies.filter(({ name }) => name === host || name.startsWith(`${host}~`)).length;
  return namesakes === 0 ? host : `${host}~${namesakes + 1}`;
}
