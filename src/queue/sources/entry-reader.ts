import type { Entry } from './to-request.ts';

/** Takes what a reader has found at a line. */
export type Emit = (line: number, entry: Entry) => void;

/** Turns lines into requests. Called with every line of a source, in order, line numbers from 1. */
export interface EntryReader {
  read(text: string, line: number, emit: Emit): void;
  /** After the last line. */
  end(emit: Emit): void;
  /** Whether lines may be left out that were read before. */
  readonly canSkip: boolean;
  /** The last line whose entry is emitted; a record of several lines is emitted when it is whole. */
  readonly settledLine: number;
}
