import type { HostSummary, Summary } from '../core/summary.ts';
import { PHASES, type Timings } from '../core/timings.ts';
import { completenessFacts, driftText } from './completeness-text.ts';
import { formatCount, formatDuration, formatMs, formatNumber, formatShare } from './format.ts';
import { possibleRate } from './possible-rate.ts';
import { clip, clipMiddle, type Painter, painter, type Style, widthOf } from './terminal.ts';
import { unrecordedNote } from './unrecorded.ts';

export type PrintOptions = { color: boolean; columns?: number };

const LABEL_COLUMNS = 11;
const BAR_COLUMNS = 30;
// 80 with the spaces between: a million requests, "1,234/s" and "0.596 ms" have room.
const HOST_COLUMNS = 26;
const CELL_COLUMNS = [9, 6, 7, 8, 9, 9];
const MOST_HOSTS = 10;
const MOST_FAILURES = 8;
const MOST_RESOURCES = 20;
const MOST_DRIFT = 10;
/** Wire and own work in words a reader of curl's output knows. */
const PHASE_NAMES: Record<keyof Timings, string> = {
  politeness: 'held back',
  queue: 'for a slot',
  dns: 'name look-up',
  connect: 'connect',
  tls: 'TLS',
  firstByte: 'first byte',
  download: 'download',
  parse: 'parse',
  handler: 'handler',
  commit: 'commit',
};

/** @returns the summary for people, in at most `columns` (80) columns, without a newline at its end */
export function printSummary(summary: Summary, { color, columns = 80 }: PrintOptions): string {
  const paint = painter(color);
  const sections = [
    headline(summary, paint),
    unrecorded(summary, paint, columns),
    facts(summary, paint, columns),
    timeShares(summary, paint),
    hostTable(summary, paint),
    failureList(summary, paint, columns),
    completenessList(summary, paint, columns),
    driftList(summary, paint, columns),
    diagnosis(summary, paint, columns),
    files(summary, paint, columns),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => clip(line, columns)).join('\n'))
    .join('\n\n');
}

const STATE_STYLES: Record<Summary['state'], Style> = {
  running: 'cyan',
  finished: 'green',
  incomplete: 'yellow',
  interrupted: 'yellow',
};

function headline(
  { run, state, durationSecs, requests, requestsPerSecond, completeness, unrecorded = 0 }: Summary,
  paint: Painter,
): string[] {
  const left = requests.pending > 0 ? `, ${formatCount(requests.pending)} requests left` : '';
  // Nothing was recorded of what it did, its time neither.
  if (unrecorded > 0 && requestsPerSecond === null)
    return [`Run ${paint('bold', run)} ${paint(STATE_STYLES[state], state)}${left}`];
  const gaps = (completeness ?? []).reduce((sum, { gaps: missing }) => sum + missing, 0);
  const missing =
    gaps > 0
      ? paint('yellow', `, ${formatCount(gaps)} declared ${gaps === 1 ? 'record is' : 'records are'} missing`)
      : '';
  const word = state === 'running' ? 'running for' : state === 'finished' ? 'finished in' : `${state} after`;
  return [
    `Run ${paint('bold', run)} ${paint(STATE_STYLES[state], word)} ${formatDuration(durationSecs)}${left}${missing}`,
  ];
}

function unrecorded(summary: Summary, paint: Painter, columns: number): string[] {
  const note = unrecordedNote(summary);
  return note === null ? [] : wrap(note, columns).map((line) => paint('yellow', line));
}

function facts(summary: Summary, paint: Painter, columns: number): string[] {
  return [
    ['Requests', requestFacts(summary, paint)],
    ['Skipped', counts(summary.skipped)],
    ['Input', inputFacts(summary.input)],
    ['Records', counts(summary.records)],
    ['Rate', rateFacts(summary)],
    ['Latency', latencyFacts(summary)],
    ['Status', statusFacts(summary.statusCodes)],
    ['Connections', connectionFacts(summary)],
  ]
    .filter((row): row is [string, string] => row[1] !== '')
    .flatMap(([label, text]) => {
      const [first, ...more] = wrap(text, columns - LABEL_COLUMNS - 4);
      const indent = ' '.repeat(LABEL_COLUMNS + 4);
      return [`  ${paint('dim', label.padEnd(LABEL_COLUMNS))}  ${first}`, ...more.map((line) => indent + line)];
    });
}

function requestFacts({ requests }: Summary, paint: Painter): string {
  const parts = [
    `${formatCount(requests.succeeded)} succeeded`,
    requests.failed > 0 ? paint('red', `${formatCount(requests.failed)} failed`) : '0 failed',
    requests.skipped > 0 ? `${formatCount(requests.skipped)} skipped` : '',
    requests.notModified > 0 ? `${formatCount(requests.notModified)} not modified` : '',
    requests.retries > 0 ? `${formatCount(requests.retries)} retries` : '',
  ];
  return `${formatCount(requests.total)}: ${parts.filter((part) => part !== '').join(', ')}`;
}

function inputFacts({ lines, malformed, duplicates }: Summary['input']): string {
  if (malformed === 0 && duplicates === 0) return '';
  return `${formatCount(lines)} lines, ${formatCount(malformed)} malformed, ${formatCount(duplicates)} duplicates`;
}

function counts(byName: Readonly<Record<string, number>>): string {
  return Object.entries(byName)
    .map(([name, count]) => `${name} ${formatCount(count)}`)
    .join(', ');
}

function statusFacts(byStatus: Readonly<Record<string, number>>): string {
  return Object.entries(byStatus)
    .map(([status, count]) => `${formatCount(count)} × ${status}`)
    .join(', ');
}

function rateFacts(summary: Summary): string {
  const { requestsPerSecond, slotUtilisation } = summary;
  if (requestsPerSecond === null) return '';
  const possible = possibleRate(summary);
  const parts = [`${formatNumber(requestsPerSecond)} requests/s`];
  if (possible !== null) parts.push(`${formatShare(possible.share)} of the ${formatNumber(possible.rps)} possible`);
  if (slotUtilisation !== null) parts.push(`slots ${formatShare(slotUtilisation)} used`);
  return parts.join(', ');
}

function latencyFacts({ latencyMs: { p50, p95, p99 } }: Summary): string {
  return p50 === null ? '' : `p50 ${formatMs(p50)}, p95 ${formatMs(p95)}, p99 ${formatMs(p99)}`;
}

function connectionFacts({ connections: { opened, reusePercent, http2Percent } }: Summary): string {
  if (reusePercent === null) return '';
  const http2 = http2Percent !== null && http2Percent > 0 ? `, HTTP/2 for ${formatShare(http2Percent / 100)}` : '';
  return `${formatCount(opened)} opened, ${formatShare(reusePercent / 100)} of requests on one already open${http2}`;
}

function timeShares({ timeMs }: Summary, paint: Painter): string[] {
  const totalMs = PHASES.reduce((sum, phase) => sum + timeMs[phase], 0);
  const shown = PHASES.filter((phase) => timeMs[phase] / totalMs >= 0.005);
  if (shown.length === 0) return [];
  return [
    paint('bold', 'Where a request spent its time'),
    ...shown.map((phase) => phaseLine(phase, timeMs[phase] / totalMs, paint)),
  ];
}

function phaseLine(phase: keyof Timings, share: number, paint: Painter): string {
  const filled = Math.round(share * BAR_COLUMNS);
  const bar = paint('cyan', '█'.repeat(filled)) + paint('dim', '░'.repeat(BAR_COLUMNS - filled));
  return `  ${PHASE_NAMES[phase].padEnd(LABEL_COLUMNS + 1)} ${bar} ${formatShare(share).padStart(5)}`;
}

function hostTable({ hosts }: Summary, paint: Painter): string[] {
  const rows = Object.entries(hosts).sort(([, a], [, b]) => b.requests - a.requests);
  if (rows.length === 0) return [];
  const more = rows.length - MOST_HOSTS;
  const head = `${'Host'.padEnd(HOST_COLUMNS)}${cellsOf(['sent', 'failed', 'refused', 'limit', 'p50', 'p95'])}`;
  return [
    paint('bold', head),
    ...rows.slice(0, MOST_HOSTS).flatMap(([host, summary]) => hostRows(host, summary, paint)),
    ...(more > 0 ? [paint('dim', `  and ${formatCount(more)} more hosts`)] : []),
  ];
}

function hostRows(host: string, summary: HostSummary, paint: Painter): string[] {
  const { requests, failed, rateLimited, limitRps, latencyMs, parkedUntil, givenUp } = summary;
  const cells = [
    formatCount(requests),
    formatCount(failed),
    formatCount(rateLimited),
    limitRps === null ? '–' : `${formatNumber(limitRps)}/s`,
    formatMs(latencyMs.p50),
    formatMs(latencyMs.p95),
  ];
  const name = `  ${clipMiddle(host, HOST_COLUMNS - 2)}`.padEnd(HOST_COLUMNS);
  const lines = [`${name}${cellsOf(cells)}`];
  if (givenUp !== null) lines.push(paint('yellow', `    given up: ${givenUp}`));
  else if (parkedUntil !== null) lines.push(paint('yellow', `    parked until ${parkedUntil}`));
  return lines;
}

/** A space before each, so that a figure wider than its column still stands apart. */
function cellsOf(texts: readonly string[]): string {
  return texts.map((text, index) => ` ${text.padStart(CELL_COLUMNS[index]!)}`).join('');
}

function failureList({ failures }: Summary, paint: Painter, columns: number): string[] {
  if (failures.length === 0) return [];
  const more = failures.length - MOST_FAILURES;
  return [
    paint('bold', 'Failures'),
    ...failures
      .slice(0, MOST_FAILURES)
      .flatMap(({ code, host, count, example, message = '', advice }) => [
        `  ${paint('red', `${formatCount(count)} × ${code}`)}  ${host}`,
        ...wrap(`${messageOnly(message, example)}${advice}`, columns - 4).map((line) => `    ${line}`),
        paint('dim', `    ${clipMiddle(example, columns - 4)}`),
      ]),
    ...(more > 0 ? [paint('dim', `  and ${formatCount(more)} more kinds: see dataset "failures"`)] : []),
  ];
}

/** What the example's own line, and the code, do not say already. */
function messageOnly(message: string, example: string): string {
  const isSaid = message === '' || /^\S+ answered \d{3}$/.test(message) || message === example;
  const own = message.startsWith(`${example}: `) ? message.slice(example.length + 2) : message;
  return isSaid ? '' : `${own.replace(/[.:]?$/, '.')} `;
}

function completenessList({ completeness }: Summary, paint: Painter, columns: number): string[] {
  if (completeness === null || completeness.length === 0) return [];
  const more = completeness.length - MOST_RESOURCES;
  return [
    paint('bold', 'Completeness'),
    ...completeness.slice(0, MOST_RESOURCES).flatMap((resource) => {
      const [first = '', ...others] = wrap(`${resource.resource}: ${completenessFacts(resource)}`, columns - 4);
      const lines = [`  ${first}`, ...others.map((line) => `    ${line}`)];
      return resource.gaps > 0 || resource.failed !== undefined ? lines.map((line) => paint('yellow', line)) : lines;
    }),
    ...(more > 0 ? [paint('dim', `  and ${formatCount(more)} more resources: see report.json`)] : []),
  ];
}

function driftList({ drift }: Summary, paint: Painter, columns: number): string[] {
  if (drift === null || drift.length === 0) return [];
  const more = drift.length - MOST_DRIFT;
  return [
    paint('bold', 'Changed since the run before'),
    ...drift.slice(0, MOST_DRIFT).map((change) => `  ${clipMiddle(driftText(change), columns - 2)}`),
    ...(more > 0 ? [paint('dim', `  and ${formatCount(more)} more: see report.json`)] : []),
  ];
}

function diagnosis({ diagnosis: findings }: Summary, paint: Painter, columns: number): string[] {
  if (findings === null || findings.length === 0) return [];
  return [
    paint('bold', 'What would make it faster'),
    ...findings.flatMap(({ bottleneck, share, evidence, advice }) => [
      `  ${paint('yellow', formatShare(share).padStart(5))}  ${bottleneck}`,
      ...wrap(`${evidence} ${advice}`, columns - 9).map((line) => `         ${line}`),
    ]),
  ];
}

function files({ exports }: Summary, paint: Painter, columns: number): string[] {
  if (exports.length === 0) return [];
  return [paint('bold', 'Files'), ...exports.map((path) => `  ${clipMiddle(path, columns - 2)}`)];
}

/** Breaks text at spaces into lines of at most `columns`; a word that is longer stands alone. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
