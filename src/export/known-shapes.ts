import type { ColumnNode } from './column-tree.ts';
import { type JsonBytes, OPEN_BRACE } from './json-bytes.ts';
import { RUN_SLACK, viewOf } from './plain-run.ts';

// Beyond these the records are of no few shapes: looking for one would cost more than it saves.
const MOST_STEPS_FROM_ONE = 8;
const MOST_STEPS = 50_000;
const LONGEST_STEP_BYTES = 1_024;

/** Takes the cells of a record, in the order of its text. */
export interface ValueReader {
  /** @param column of a node that has none: -1 @param at where the value begins @returns the place after it */
  value(column: number, at: number): number;
}

/**
 * What stands between the cells of records seen so far: `{"id":` before the first, `,"brand":{"name":` between two, `}}`
 * after the last. A record that has nothing else there has its cells at known columns, without a look at any key.
 *
 * A step belongs to the cell that it follows: the objects that are open there are those of its column's path, so that the
 * same bytes always lead to the same column, whatever was before.
 */
export class KnownShapes {
  readonly #source: JsonBytes;
  readonly #start = new Place();
  readonly #places = new Map<ColumnNode, Place>();
  #stepCount = 0;
  // The record that is being learned: its last cell and where that ended; null when it is not to be learned.
  #learnFrom: Place | null = null;
  #learnAt = 0;

  constructor(source: JsonBytes) {
    this.#source = source;
  }

  /** @returns false when the loaded record is of no known shape: some of its cells may have been read by then */
  read(reader: ValueReader): boolean {
    const source = this.#source;
    let place = this.#start;
    let at = 0;
    for (;;) {
      const step = place.stepAt(source, at);
      if (step === null) return false;
      if (step.to === null) return true;
      at = reader.value(step.to.column, at + step.byteCount);
      place = step.to;
    }
  }

  /** To be called before a walk whose cells are to be learned. */
  beginLearning(): void {
    this.#learnFrom = this.#stepCount < MOST_STEPS ? this.#start : null;
    this.#learnAt = 0;
  }

  /** A cell of the walk: `end` is exclusive. */
  learn(node: ColumnNode, start: number, end: number): void {
    const from = this.#learnFrom;
    if (from === null) return;
    let to = this.#places.get(node);
    if (to === undefined) {
      to = new Place(node);
      this.#places.set(node, to);
    }
    this.#learnFrom = this.#learnStep(from, start, to) ? to : null;
    this.#learnAt = end;
  }

  /** The walk met what is no cell. */
  stopLearning(): void {
    this.#learnFrom = null;
  }

  endLearning(): void {
    if (this.#learnFrom !== null) this.#learnStep(this.#learnFrom, this.#source.length, null);
    this.#learnFrom = null;
  }

  #learnStep(from: Place, end: number, to: Place | null): boolean {
    const start = this.#learnAt;
    // Nothing stands before a record that is a cell of its own.
    if (end === start || end - start > LONGEST_STEP_BYTES) return false;
    if (from.hasStep(this.#source.view, start, end)) return true;
    if (from.steps.length === MOST_STEPS_FROM_ONE) return false;
    from.steps.push(new Step(this.#source.bytes.subarray(start, end), to));
    this.#stepCount++;
    return true;
  }
}

/** Where a record can be: behind a cell, or at its start. */
class Place {
  readonly column: number;
  readonly #isWhole: boolean;
  readonly steps: Step[] = [];

  constructor(node?: ColumnNode) {
    this.column = node?.column ?? -1;
    this.#isWhole = node?.isWhole ?? false;
  }

  /** @param first of a value; an object that columns could go into is left to a walk */
  takes(first: number): boolean {
    return BEGINS_CELL[first] === 1 || (first === OPEN_BRACE && this.#isWhole);
  }

  stepAt({ view, bytes, length }: JsonBytes, at: number): Step | null {
    const { steps } = this;
    for (let index = 0; index < steps.length; index++) {
      const step = steps[index] as Step;
      if (!step.isAt(view, at)) continue;
      // One step may be the beginning of another.
      const end = at + step.byteCount;
      if (step.to === null ? end === length : step.to.takes(bytes[end] as number)) return step;
    }
    return null;
  }

  hasStep(view: DataView, start: number, end: number): boolean {
    return this.steps.some((step) => step.byteCount === end - start && step.isAt(view, start));
  }
}

/** Bytes, and the cell that follows them; null = the record ends. */
class Step {
  readonly byteCount: number;
  readonly to: Place | null;
  // Compared four at a time, the last ones by those bits that count.
  readonly #words: Int32Array;
  readonly #lastMask: number;

  constructor(bytes: Uint8Array, to: Place | null) {
    this.byteCount = bytes.length;
    this.to = to;
    const padded = new Uint8Array(bytes.length + RUN_SLACK);
    padded.set(bytes);
    const view = viewOf(padded);
    this.#words = Int32Array.from({ length: Math.ceil(bytes.length / 4) }, (_, index) =>
      view.getInt32(4 * index, true),
    );
    this.#lastMask = (-1 >>> (8 * (4 * this.#words.length - bytes.length))) | 0;
  }

  isAt(view: DataView, at: number): boolean {
    const words = this.#words;
    const last = words.length - 1;
    let place = at;
    for (let index = 0; index < last; index++, place += 4)
      if (view.getInt32(place, true) !== words[index]) return false;
    return ((view.getInt32(place, true) ^ (words[last] as number)) & this.#lastMask) === 0;
  }
}

const BEGINS_CELL = new Uint8Array(256);
for (const byte of Buffer.from('"[-0123456789tfn')) BEGINS_CELL[byte] = 1;
