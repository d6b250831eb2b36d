import type { StartUrl } from '../../config/input-schema.ts';
import { isRequest, toRequest } from './to-request.ts';
import type { MalformedLine, ReadOptions, RequestDefaults, SourceBatch, UrlSource } from './types.ts';

const BATCH_ITEMS = 1_000;

export type RequestsSourceOptions = {
  name: string;
  requests: readonly StartUrl[];
  defaults: RequestDefaults;
  onMalformed: (malformed: MalformedLine) => void;
};

/** Requests that are in memory already: the command line's, or startUrls of the input document. */
export class RequestsSource implements UrlSource {
  readonly name: string;
  readonly #options: RequestsSourceOptions;

  constructor(options: RequestsSourceOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async *batches({ afterLine = 0, signal }: ReadOptions = {}): AsyncGenerator<SourceBatch, void, void> {
    const { requests } = this.#options;
    for (let start = afterLine; start < requests.length; start += BATCH_ITEMS) {
      signal?.throwIfAborted();
      yield this.#batchOf(start, Math.min(start + BATCH_ITEMS, requests.length));
    }
  }

  #batchOf(start: number, end: number): SourceBatch {
    const batch: SourceBatch = { items: [], lastLine: end, lines: end - start, malformed: 0 };
    const { requests, defaults, onMalformed } = this.#options;
    for (let index = start; index < end; index++) {
      const entry = toRequest(requests[index]!, defaults);
      const line = index + 1;
      if (isRequest(entry)) batch.items.push({ request: entry, line });
      else {
        batch.malformed += 1;
        onMalformed({ source: this.name, line, reason: entry.reason });
      }
    }
    return batch;
  }
}
