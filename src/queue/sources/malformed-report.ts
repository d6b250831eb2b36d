import type { Log } from '../../core/log.ts';
import type { MalformedLine } from './types.ts';

const SHOWN_IN_FULL = 20;

/** Tells of malformed lines: the first 20 in full, the others as a sum at the end. */
export class MalformedReport {
  readonly #log: Log;
  readonly #unshown = new Map<string, { count: number; first: number; last: number }>();
  #count = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  get count(): number {
    return this.#count;
  }

  readonly add = ({ source, line, reason }: MalformedLine): void => {
    this.#count += 1;
    if (this.#count <= SHOWN_IN_FULL) this.#log.warn(`${source}:${line}: ${reason}; skipped`);
    else this.#sumUp(source, line);
  };

  /** To be called after the last source: says how many were not shown. */
  end(): void {
    for (const [source, { count, first, last }] of this.#unshown) {
      const lines = count === 1 ? `line ${first}` : `${count} lines, from ${first} to ${last}`;
      this.#log.warn(`${source}: malformed and skipped as well: ${lines}`);
    }
    this.#unshown.clear();
  }

  #sumUp(source: string, line: number): void {
    const sum = this.#unshown.get(source);
    if (sum === undefined) this.#unshown.set(source, { count: 1, first: line, last: line });
    else {
      sum.count += 1;
      sum.last = line;
    }
  }
}
