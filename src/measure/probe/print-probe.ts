import { formatCount, formatMs, formatNumber } from '../../report/format.ts';
import { type Painter, painter } from '../../report/terminal.ts';
import { nextStep } from './next-step.ts';
import type { KeepAlive, Outlook, PhaseTimes, UrlProbe } from './probe-report.ts';

const LABEL_COLUMNS = 13;

/** @returns one URL's probe for people, without a newline at its end */
export function printProbe(probe: UrlProbe, { color }: { color: boolean }): string {
  const paint = painter(color);
  const sections = [[paint('bold', probe.url)], timeTable(probe, paint), facts(probe, paint), outlook(probe, paint)];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

const COLUMNS = ['', 'DNS', 'connect', 'TLS', 'first byte', 'download', 'total'];

/** As curl -w has it: the phases one by one, and the moments since the start. */
function timeTable({ fresh, reused, samples }: UrlProbe, paint: Painter): string[] {
  if (fresh === null) return [];
  const rows: [string, number[]][] = [
    ['new connection', phases(fresh)],
    ['  since start', moments(fresh)],
    ...(reused === null ? [] : [['kept connection', phases(reused)] satisfies [string, number[]]]),
  ];
  return [
    paint('dim', row(COLUMNS)),
    ...rows.map(([label, times]) => row([label, ...times.map(cellText)])),
    paint('dim', `  medians of ${samples.fresh} and ${samples.reused} requests`),
  ];
}

function phases({ dns, connect, tls, firstByte, download, total }: PhaseTimes): number[] {
  return [dns, connect, tls, firstByte, download, total];
}

/** time_namelookup, time_connect, time_appconnect, time_starttransfer, time_total. */
function moments({ dns, connect, tls, firstByte, total }: PhaseTimes): number[] {
  const connected = dns + connect;
  const secured = tls > 0 ? connected + tls : connected;
  return [dns, connected, secured, secured + firstByte, total, total];
}

/** Less than a hundredth of a millisecond is noise. */
function cellText(timeMs: number): string {
  return timeMs < 10 ? `${timeMs.toFixed(2)} ms` : formatMs(timeMs);
}

function row([label = '', ...cells]: readonly string[]): string {
  return `  ${label.padEnd(16)}${cells.map((cell) => cell.padStart(11)).join('')}`;
}

function facts(probe: UrlProbe, paint: Painter): string[] {
  const rows: [string, string | null][] = [
    ['Status', statusText(probe)],
    ['Next', probe.error === null ? null : nextStep(probe.error)],
    ['Refused', probe.refusal === null ? null : `${probe.refusal}: nothing more was sent${waitText(probe)}`],
    ['Round trip', probe.roundTripMs === null ? null : `${formatMs(probe.roundTripMs)} (from connecting)`],
    ['Server', probe.serverMs === null ? null : `${formatMs(probe.serverMs)} (first byte less the round trip)`],
    ['HTTP', httpText(probe)],
    ['Keep-alive', probe.fresh === null ? null : keepAliveText(probe)],
    ['Body', bodyText(probe)],
    ['Limits', limitsText(probe)],
    ['robots.txt', robotsText(probe)],
    ['Clock', clockText(probe)],
    ['Addresses', addressText(probe)],
  ];
  return rows
    .filter((entry): entry is [string, string] => entry[1] !== null)
    .map(([label, text]) => `  ${paint('dim', label.padEnd(LABEL_COLUMNS))}${text}`);
}

function statusText({ status, error }: UrlProbe): string {
  if (error !== null) return `${error.code}: ${error.message}`;
  return status === null ? 'no answer' : String(status);
}

function waitText({ retryAfterMs }: UrlProbe): string {
  return retryAfterMs === null ? '' : ` (it asks for ${formatMs(retryAfterMs)})`;
}

function httpText({ httpVersion, url }: UrlProbe): string | null {
  if (httpVersion === null) return null;
  return url.startsWith('https:') ? `HTTP/${httpVersion} (by ALPN)` : `HTTP/${httpVersion} (without TLS)`;
}

function keepAliveText({ isReused, keepAlive, statedKeepAliveMs }: UrlProbe): string {
  const stated = statedKeepAliveMs === null ? '' : `, states ${formatMs(statedKeepAliveMs)}`;
  return `${isReused ? 'connections are used again' : 'every request needs a new connection'}; ${idleText(keepAlive)}${stated}`;
}

function idleText(keepAlive: KeepAlive): string {
  if (keepAlive.kind === 'closed-at-once') return 'closed after the answer';
  if (keepAlive.kind === 'closed-after') return `an idle one is closed after ${formatMs(keepAlive.afterMs)}`;
  if (keepAlive.kind === 'kept') return `an idle one is kept for at least ${formatMs(keepAlive.atLeastMs)}`;
  return `how long an idle one is kept is not known (${keepAlive.reason})`;
}

function bodyText({ bodyBytes, wireBytes, contentEncoding }: UrlProbe): string | null {
  if (bodyBytes === null) return null;
  if (contentEncoding === null) return `${formatCount(bodyBytes)} bytes, not compressed`;
  if (wireBytes === null || wireBytes === bodyBytes) return `${formatCount(bodyBytes)} bytes, ${contentEncoding}`;
  return `${formatCount(bodyBytes)} bytes, ${formatCount(wireBytes)} as ${contentEncoding}`;
}

function limitsText({ limits, fresh }: UrlProbe): string | null {
  if (fresh === null) return null;
  if (limits.length === 0) return 'none stated (ramp finds out)';
  return limits
    .map(({ name, unit, limit, remaining, windowMs }) => {
      const what = unit === 'concurrent' ? 'at once' : windowMs === null ? 'requests' : `in ${formatMs(windowMs)}`;
      const left = remaining === null ? '' : `, ${formatCount(remaining)} left`;
      return `${name}: ${limit === null ? '?' : formatCount(limit)} ${what}${left}`;
    })
    .join('; ');
}

function robotsText({ robots }: UrlProbe): string | null {
  if (robots === null) return null;
  const { verdict, rule, crawlDelayMs } = robots;
  const delay = crawlDelayMs > 0 ? `, asks for ${formatMs(crawlDelayMs)} between requests` : '';
  if (verdict === 'disallowed') return `forbids it ("${rule}"): a crawl would skip it${delay}`;
  if (verdict === 'unreachable') return `out of reach (${rule ?? 'no answer'}): a crawl would wait for it`;
  return `allows it${delay}`;
}

function clockText({ clockSkewMs }: UrlProbe): string | null {
  if (clockSkewMs === null) return null;
  const { least, most } = clockSkewMs;
  if (least <= 0 && most >= 0) return `agrees with ours (within ${formatMs(Math.max(-least, most))})`;
  const middle = (least + most) / 2;
  return `${formatMs(Math.abs(middle))} ${middle > 0 ? 'ahead of' : 'behind'} ours (± ${formatMs((most - least) / 2)})`;
}

function addressText({ families }: UrlProbe): string | null {
  if (families.length === 0) return null;
  return families
    .map(({ family, address, connectMs, error }) =>
      connectMs === null
        ? `IPv${family} ${address} not reached (${error})`
        : `IPv${family} ${address} in ${formatMs(connectMs)}`,
    )
    .join(', ');
}

function outlook({ outlook: found, reused }: UrlProbe, paint: Painter): string[] {
  if (found === null) return [];
  const over = reused === null ? 'over a new connection each' : 'over a kept connection';
  return [
    paint('bold', 'What this position allows'),
    `  ${formatMs(found.latencyMs)} a request ${over}`,
    `  ${formatNumber(found.wishedRps)} requests/s need ${formatCount(found.concurrency)} in flight (rate x latency)${overLimit(found)}`,
    `  ${formatCount(found.maxConcurrency)} in flight allow ${formatNumber(found.ceilingRps)} requests/s${boundText(found)}`,
  ];
}

function overLimit({ wishedRps, statedRps }: Outlook): string {
  return statedRps !== null && wishedRps > statedRps ? `, but its stated limit is ${formatNumber(statedRps)}/s` : '';
}

function boundText({ statedRps, ceilingRps }: Outlook): string {
  return statedRps !== null && ceilingRps >= statedRps ? ': the stated limit, not the distance, binds' : '';
}
