import type { Emit, EntryReader } from './entry-reader.ts';
import { toRequest } from './to-request.ts';
import type { RequestDefaults } from './types.ts';

/** One URL a line; blank lines and those that start with "#" are none. */
export class TextReader implements EntryReader {
  readonly canSkip = true;
  settledLine = 0;
  readonly #defaults: RequestDefaults;

  constructor(defaults: RequestDefaults) {
    this.#defaults = defaults;
  }

  read(text: string, line: number, emit: Emit): void {
    this.settledLine = line;
    const url = text.trim();
    if (url !== '' && !url.startsWith('#')) emit(line, toRequest({ url }, this.#defaults));
  }

  end(): void {}
}
