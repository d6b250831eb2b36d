import type { Clock } from '../../core/clock.ts';

/** The database's clock, epoch ms: workers whose own clocks differ agree on it. */
export const DB_NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** The time within a statement whose parameter $n is `StoreTime.parameter`. */
export function nowMs(parameter: number): string {
  return `coalesce($${parameter}::bigint, ${DB_NOW_MS})`;
}

/**
 * Which clock the store goes by: the database's, or one that is handed in. Times that leave the store or come into it are
 * translated to this process's clock, so that nobody outside meets two.
 */
export class StoreTime {
  readonly #given: Clock | null;
  readonly #local: Clock;
  #offsetMs = 0;

  /** @param given null = the database's clock */
  constructor(local: Clock, given: Clock | null) {
    this.#local = local;
    this.#given = given;
  }

  /** The parameter that `nowMs` takes: null = the database looks at its own clock. */
  get parameter(): number | null {
    return this.#given === null ? null : this.#given.wallMs();
  }

  /** Our clock, for `noteAnswer`. */
  get localMs(): number {
    return this.#local.wallMs();
  }

  /** Learns how far the clocks are apart, from a statement sent and answered at these times of ours. */
  noteAnswer(times: { sentMs: number; answeredMs: number; databaseMs: number }): void {
    if (this.#given === null) this.#offsetMs = times.databaseMs - (times.sentMs + times.answeredMs) / 2;
  }

  /** @returns a time of the database, by our clock */
  toLocal(databaseMs: number): number {
    return Math.round(databaseMs - this.#offsetMs);
  }

  /** @returns a time of ours, by the database's clock */
  toDatabase(localMs: number): number {
    return Math.round(localMs + this.#offsetMs);
  }
}
