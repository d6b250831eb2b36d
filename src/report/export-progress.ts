import type { Ports } from '../core/ports.ts';
import { formatCount, formatDuration, formatNumber } from './format.ts';
import { progressBar } from './progress-bar.ts';
import { EtaEstimate } from './rate-estimate.ts';
import { clipMiddle, type LiveArea, type Painter, painter } from './terminal.ts';

export type ExportProgressOptions = {
  ports: Pick<Ports, 'clock' | 'log'>;
  area: LiveArea;
  color: boolean;
  /** No lines at all: neither drawn nor logged. */
  quiet?: boolean;
};

const REDRAW_MS = 100;
const LOG_EVERY_MS = 10_000;
const NAME_COLUMNS = 24;

/** Shows how far the file being written has got: on a terminal a line at its bottom, elsewhere a log line every 10 s. */
export class ExportProgress {
  readonly #options: ExportProgressOptions;
  readonly #paint: Painter;
  #file: { name: string; total: number; eta: EtaEstimate } | null = null;
  #shownAtMs = 0;

  constructor(options: ExportProgressOptions) {
    this.#options = options;
    this.#paint = painter(options.color);
  }

  /** A file is begun. @param total rows it will have, as far as is known */
  begin(name: string, total: number): void {
    const { ports, area } = this.#options;
    this.#file = { name, total, eta: new EtaEstimate() };
    this.#shownAtMs = ports.clock.nowMs();
    this.#file.eta.update(this.#shownAtMs, { done: 0, total });
    if (area.isTerminal) this.#show(0);
  }

  /** @param count rows written so far */
  rows(count: number): void {
    const { ports, area } = this.#options;
    const nowMs = ports.clock.nowMs();
    if (this.#file === null || nowMs - this.#shownAtMs < (area.isTerminal ? REDRAW_MS : LOG_EVERY_MS)) return;
    this.#shownAtMs = nowMs;
    this.#file.eta.update(nowMs, { done: count, total: this.#file.total });
    this.#show(count);
  }

  /** All files are written, or none is any more. */
  end(): void {
    this.#file = null;
    if (!this.#options.quiet) this.#options.area.clear();
  }

  #show(count: number): void {
    const { ports, area, quiet } = this.#options;
    const file = this.#file;
    if (file === null || quiet) return;
    const { requestsPerSecond: rate, remainingSecs } = file.eta;
    const figures = [
      `${formatCount(count)} of ${formatCount(file.total)} rows`,
      `${rate === null ? '–' : formatNumber(rate)} rows/s`,
      `ETA ${remainingSecs === null ? '–' : formatDuration(remainingSecs)}`,
    ];
    // Rows that come in while it is written are more than were counted.
    const share = file.total > 0 ? Math.min(1, count / file.total) : 0;
    const name = clipMiddle(file.name, NAME_COLUMNS);
    if (area.isTerminal) area.draw([[progressBar(share, this.#paint), name, ...figures].join('  ')]);
    else ports.log.info(`${file.name}: ${figures.join(', ')}`);
  }
}
