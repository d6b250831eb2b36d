import type { Clock } from '../../core/clock.ts';
import { SECOND_MS } from '../../core/units.ts';
import type { CommitResult, UnitOfWork } from '../store.ts';

type Batch = {
  units: readonly UnitOfWork[];
  resolve: (results: CommitResult[]) => void;
  reject: (error: unknown) => void;
};

export type CommitLineOptions = {
  commit: (units: readonly UnitOfWork[]) => Promise<CommitResult[]>;
  clock: Clock;
  /** How long the first of a batch may wait for others, ms; 0 = not at all. Longer where none adds requests. */
  gatherMs: number;
};

// Beyond it a transaction only holds its rows for longer.
const MOST_UNITS = 1_000;
/** How long the first waits: until about so many wanted ones have come, and for so many times the option's at most. */
type Patience = { enoughUnits: number; wantedUnits: number; longest: number };
// Somebody may wait for the requests that these add.
const HASTY: Patience = { enoughUnits: 64, wantedUnits: 40, longest: 1 };
// A batch of 40 costs PostgreSQL twice as much a request as one of 128: several workers beside one another have small ones.
const PATIENT: Patience = { enoughUnits: 200, wantedUnits: 128, longest: 2.5 };
const RATE_WEIGHT = 0.3;

/**
 * Commits one transaction at a time; what comes meanwhile goes together in the next one. The further the database is away,
 * the larger the batches; where little comes, the first waits a moment for others.
 */
export class CommitLine {
  readonly #options: CommitLineOptions;
  #waiting: Batch[] = [];
  #units = 0;
  #isCommitting = false;
  #cancelGathering: (() => void) | null = null;
  #patience = PATIENT;
  #unitsPerSecond = 0;
  #countedAtMs: number;

  constructor(options: CommitLineOptions) {
    this.#options = options;
    this.#countedAtMs = options.clock.nowMs();
  }

  commit(units: readonly UnitOfWork[]): Promise<CommitResult[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ units, resolve, reject });
      this.#units += units.length;
      if (units.some(({ requests }) => requests.length > 0)) this.#hurry();
      if (!this.#isCommitting) this.#gather();
    });
  }

  #gather(): void {
    const gatherMs = this.#gatherMs();
    if (gatherMs === 0) this.#begin();
    else this.#cancelGathering ??= this.#options.clock.schedule(gatherMs, () => this.#begin());
  }

  #hurry(): void {
    if (this.#patience === HASTY) return;
    this.#patience = HASTY;
    this.#cancelGathering?.();
    this.#cancelGathering = null;
  }

  /** Until about as many have come as are wanted, at the rate at which they come. */
  #gatherMs(): number {
    const { gatherMs } = this.#options;
    const { enoughUnits, wantedUnits, longest } = this.#patience;
    if (gatherMs === 0 || this.#units >= enoughUnits) return 0;
    return Math.min(longest * gatherMs, (wantedUnits * SECOND_MS) / Math.max(this.#unitsPerSecond, 1));
  }

  #begin(): void {
    this.#cancelGathering?.();
    this.#cancelGathering = null;
    this.#isCommitting = true;
    void this.#commitAll(this.#next()).then(() => {
      this.#isCommitting = false;
      if (this.#waiting.length > 0) this.#gather();
    });
  }

  #next(): Batch[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ units }, index) => {
      count += units.length;
      return index > 0 && count > MOST_UNITS;
    });
    const batches = this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
    const taken = batches.reduce((sum, { units }) => sum + units.length, 0);
    this.#units -= taken;
    if (this.#waiting.length === 0) this.#patience = PATIENT;
    this.#count(taken);
    return batches;
  }

  #count(units: number): void {
    const nowMs = this.#options.clock.nowMs();
    const perSecond = (units * SECOND_MS) / Math.max(nowMs - this.#countedAtMs, 1);
    this.#unitsPerSecond += RATE_WEIGHT * (perSecond - this.#unitsPerSecond);
    this.#countedAtMs = nowMs;
  }

  async #commitAll(batches: readonly Batch[]): Promise<void> {
    try {
      const results = await this.#options.commit(batches.flatMap(({ units }) => units));
      let start = 0;
      for (const { units, resolve } of batches) {
        resolve(results.slice(start, start + units.length));
        start += units.length;
      }
    } catch (error) {
      for (const { reject } of batches) reject(error);
    }
  }
}
