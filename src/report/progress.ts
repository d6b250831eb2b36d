import type { KeySnapshot } from '../core/key-snapshot.ts';
import type { Ports } from '../core/ports.ts';
import { formatCount, formatDuration, formatMs, formatNumber } from './format.ts';
import { limitsByHost } from './host-record.ts';
import { progressBar } from './progress-bar.ts';
import { EtaEstimate, RateEstimate } from './rate-estimate.ts';
import type { Recorder } from './recorder.ts';
import { clipMiddle, type LiveArea, type Painter, painter } from './terminal.ts';
import { type Waiting, waitingText } from './waiting.ts';

/** What one host does now. */
export type HostProgress = {
  host: string;
  inFlight: number;
  concurrency: number;
  attempts: number;
  limitRps: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  parkedUntilMs: number | null;
  failed: number;
};

/** What the crawl has done and has left. */
export type ProgressFacts = {
  total: number;
  succeeded: number;
  failed: number;
  skipped: number;
  /** The busiest first; as many as shall be shown. */
  hosts: readonly HostProgress[];
  /** What it waits for while nothing is under way; null or left out = nothing. */
  waiting?: Waiting | null;
};

export type ProgressOptions = {
  ports: Pick<Ports, 'clock' | 'log'>;
  area: LiveArea;
  facts: () => ProgressFacts;
  color: boolean;
  /** No lines at all: neither drawn nor logged. */
  quiet?: boolean;
};

export type Progress = { stop(): void };

const REDRAW_MS = 100;
const LOG_EVERY_MS = 10_000;
const LEAST_WAIT_SHOWN_MS = 1_000;

/**
 * Shows progress until stopped: on a terminal lines at its bottom, redrawn ten times a second; elsewhere a log line
 * every 10 s.
 */
export function startProgress({ ports, area, facts, color, quiet = false }: ProgressOptions): Progress {
  if (quiet) return { stop() {} };
  const eta = new EtaEstimate();
  const view = new ProgressView({ paint: painter(color), eta });
  const everyMs = area.isTerminal ? REDRAW_MS : LOG_EVERY_MS;
  const show = (): void => {
    const now = facts();
    const at = { nowMs: ports.clock.nowMs(), wallMs: ports.clock.wallMs() };
    eta.update(at.nowMs, { done: now.succeeded + now.failed + now.skipped, total: now.total });
    if (area.isTerminal) area.draw(view.lines(now, { ...at, columns: area.columns }));
    else if (isUnderWay) ports.log.info(view.plainLine(now));
    isUnderWay = true;
  };
  // At its very start there is nothing to tell in a log: the first look is only what rates are counted from.
  let isUnderWay = false;
  let cancel = (): void => {};
  const tick = (): void => {
    show();
    cancel = ports.clock.schedule(everyMs, tick);
  };
  tick();
  return {
    stop: () => {
      cancel();
      area.clear();
    },
  };
}

/** Draws progress as text: pure but for the hosts' rates, which it derives from one call to the next. */
export class ProgressView {
  readonly #paint: Painter;
  readonly #eta: EtaEstimate;
  readonly #hostRates = new Map<string, RateEstimate>();

  constructor({ paint, eta }: { paint: Painter; eta: EtaEstimate }) {
    this.#paint = paint;
    this.#eta = eta;
  }

  /** @returns the overall line and one for each host */
  lines(facts: ProgressFacts, at: { nowMs: number; wallMs: number; columns: number }): string[] {
    const hosts = facts.hosts.map((host) => this.#hostLine(host, at));
    for (const host of this.#hostRates.keys())
      if (!facts.hosts.some((shown) => shown.host === host)) this.#hostRates.delete(host);
    return [this.#overallLine(facts, at.columns), ...this.#waitingLine(facts), ...hosts];
  }

  /** One line without drawing, for a log. */
  plainLine(facts: ProgressFacts): string {
    const done = facts.succeeded + facts.failed + facts.skipped;
    return [
      `${formatCount(done)} of ${formatCount(facts.total)} requests done`,
      `${this.#rateText()}`,
      `${formatCount(facts.failed)} failed`,
      this.#etaText(),
      ...(facts.waiting ? [waitingText(facts.waiting)] : []),
    ].join(', ');
  }

  /** Redrawn ten times a second, a line for a wait of a moment would only flicker. */
  #waitingLine({ waiting }: ProgressFacts): string[] {
    if (!waiting || leftMs(waiting) < LEAST_WAIT_SHOWN_MS) return [];
    return [`  ${this.#paint('yellow', waitingText(waiting))}`];
  }

  #overallLine(facts: ProgressFacts, columns: number): string {
    const done = facts.succeeded + facts.failed + facts.skipped;
    const failed = `${formatCount(facts.failed)} failed`;
    const text = [
      `${formatCount(done)}/${formatCount(facts.total)}`,
      this.#rateText(),
      facts.failed > 0 ? this.#paint('red', failed) : failed,
      this.#etaText(),
    ].join('  ');
    // A narrow terminal keeps the figures and lets the bar go.
    return columns < 70 ? text : `${progressBar(facts.total > 0 ? done / facts.total : 0, this.#paint)} ${text}`;
  }

  #rateText(): string {
    const rate = this.#eta.requestsPerSecond;
    return `${rate === null ? '–' : formatNumber(rate)} requests/s`;
  }

  #etaText(): string {
    const secs = this.#eta.remainingSecs;
    return secs === null ? 'ETA –' : `ETA ${formatDuration(secs)}`;
  }

  #hostLine(
    host: HostProgress,
    { nowMs, wallMs, columns }: { nowMs: number; wallMs: number; columns: number },
  ): string {
    const parts = [
      `${host.inFlight}/${host.concurrency}${columns < 100 ? '' : ' in flight'}`,
      this.#hostRateText(host, nowMs),
      `p50 ${formatMs(host.p50Ms)}`,
      `p95 ${formatMs(host.p95Ms)}`,
    ];
    if (host.failed > 0) parts.push(this.#paint('red', `${formatCount(host.failed)} failed`));
    // What stops the host comes first: at 80 columns the rest may be cut.
    if (host.parkedUntilMs !== null && host.parkedUntilMs > wallMs)
      parts.unshift(this.#paint('yellow', `parked ${formatDuration((host.parkedUntilMs - wallMs) / 1_000)}`));
    const nameColumns = Math.max(10, Math.min(28, columns - 54));
    return `  ${this.#paint('dim', clipMiddle(host.host, nameColumns).padEnd(nameColumns))} ${parts.join('  ')}`;
  }

  #hostRateText({ host, attempts, limitRps }: HostProgress, nowMs: number): string {
    let rate = this.#hostRates.get(host);
    if (rate === undefined) {
      rate = new RateEstimate(5_000);
      this.#hostRates.set(host, rate);
    }
    rate.update(nowMs, attempts);
    const now = rate.perSecond === null ? '–' : formatNumber(rate.perSecond);
    return limitRps === null ? `${now}/s` : `${now}/s of ${formatNumber(limitRps)}`;
  }
}

/** A file that is being fetched comes soon, or is told of as one that does not. */
function leftMs(waiting: Waiting): number {
  if (waiting.kind === 'retries') return waiting.nextInMs;
  return waiting.kind === 'robots' ? (waiting.nextInMs ?? 0) : waiting.forMs;
}

/** @returns what the busiest hosts do now: most in flight first, then most requests; at most `limit` of them */
export function hostProgress(recorder: Recorder, snapshots: readonly KeySnapshot[], limit = 5): HostProgress[] {
  const records = recorder.hosts();
  return [...limitsByHost(snapshots)]
    .map(([host, limits]) => ({ host, limits, record: records.get(host) }))
    .sort((a, b) => b.limits.inFlight - a.limits.inFlight || (b.record?.attempts ?? 0) - (a.record?.attempts ?? 0))
    .slice(0, limit)
    .map(({ host, limits, record }) => ({
      host,
      inFlight: limits.inFlight,
      concurrency: limits.concurrency,
      limitRps: limits.limitRps,
      parkedUntilMs: limits.parkedUntilMs,
      attempts: record?.attempts ?? 0,
      failed: record?.failed ?? 0,
      p50Ms: record?.latency.percentile(0.5) ?? null,
      p95Ms: record?.latency.percentile(0.95) ?? null,
    }));
}
