import type { Bytes } from './bytes.ts';
import type { Emit, EntryReader } from './entry-reader.ts';
import { type Line, readLines, TOO_LONG } from './lines.ts';
import { ListedItem } from './listed.ts';
import { type ListOptions, readerFor } from './reader-for.ts';
import { isRequest } from './to-request.ts';
import type { MalformedLine, ReadOptions, SourceBatch, UrlSource } from './types.ts';

// Larger batches made the store no faster, and hold a 1,000 long payloads in memory.
const BATCH_ITEMS = 1_000;

export type ListSourceOptions = ListOptions & {
  open: (signal?: AbortSignal) => Bytes;
  onMalformed: (malformed: MalformedLine) => void;
};

/** A list of URLs, read as a stream: a file or standard input. */
export class ListSource implements UrlSource {
  readonly name: string;
  readonly #options: ListSourceOptions;
  #reader: EntryReader | null = null;
  #batch: SourceBatch = emptyBatch();
  #afterLine = 0;

  constructor(options: ListSourceOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async *batches({ afterLine = 0, signal }: ReadOptions = {}): AsyncGenerator<SourceBatch, void, void> {
    this.#afterLine = afterLine;
    let line = 0;
    for await (const lines of readLines(this.#options.open(signal))) {
      signal?.throwIfAborted();
      for (const text of lines) {
        line += 1;
        this.#read(text, line);
        if (this.#batch.items.length >= BATCH_ITEMS) yield this.#takeBatch();
      }
    }
    this.#reader?.end(this.#emit);
    const rest = this.#takeBatch();
    if (rest.lines > 0) yield { ...rest, lastLine: line };
  }

  #read(text: Line, line: number): void {
    if (text === TOO_LONG) {
      this.#emit(line, { reason: 'it is longer than 16 MiB' });
      return;
    }
    if (this.#reader === null && text.trim() !== '') this.#reader = readerFor(text, this.#options);
    if (this.#reader?.canSkip && line <= this.#afterLine) return;
    this.#reader?.read(text, line, this.#emit);
  }

  readonly #emit: Emit = (line, entry) => {
    if (line <= this.#afterLine) return;
    this.#batch.lines += 1;
    if (isRequest(entry)) {
      this.#batch.items.push(new ListedItem(entry, line));
    } else {
      this.#batch.malformed += 1;
      this.#options.onMalformed({ source: this.name, line, reason: entry.reason });
    }
  };

  #takeBatch(): SourceBatch {
    const batch = { ...this.#batch, lastLine: this.#reader?.settledLine ?? 0 };
    this.#batch = emptyBatch();
    return batch;
  }
}

function emptyBatch(): SourceBatch {
  return { items: [], lastLine: 0, lines: 0, malformed: 0 };
}
