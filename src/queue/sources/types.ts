import type { NewRequest } from '../../storage/store.ts';

/** One request of a source. */
export type SourceItem = {
  /** As the store takes it: `url` as it was written, the unique key normalised. */
  request: NewRequest;
  /** Line of the file, or position in the list, from 1. */
  line: number;
};

/** What has been read since the batch before. */
export type SourceBatch = {
  items: SourceItem[];
  /** The last line read: to go on after it, when all of the batch is stored. */
  lastLine: number;
  /** Entries among them, malformed ones included; blank lines and comments are none. */
  lines: number;
  malformed: number;
};

/** An entry that is not usable. */
export type MalformedLine = { source: string; line: number; reason: string };

export type ReadOptions = {
  /** Lines up to this one are read over: they were stored before. 0 = from the start. */
  afterLine?: number;
  signal?: AbortSignal;
};

/** One place URLs come from, opened. */
export interface UrlSource {
  /** For messages: the file's name, "stdin", "the command line". */
  readonly name: string;
  /**
   * Streams the source in batches; nothing but the batch is held in memory. To be called once.
   * @throws EnvironmentError when it cannot be read to its end; the signal's reason when aborted
   */
  batches(options?: ReadOptions): AsyncGenerator<SourceBatch, void, void>;
}

/** What every request of a source gets unless its entry says otherwise. */
export type RequestDefaults = { method: string; body: string | null };
