import { describeIssues } from '../../config/describe-issues.ts';
import { type StartUrl, startUrlSchema } from '../../config/input-schema.ts';
import { pathText } from '../../config/path-text.ts';
import { messageOf } from '../../core/errors.ts';
import type { Emit, EntryReader } from './entry-reader.ts';
import { type Entry, toRequest } from './to-request.ts';
import type { RequestDefaults } from './types.ts';

/**
 * One JSON value a line: a URL as text, or an object with url, method, payload, headers, label and userData. With a URL
 * column, an object of any other kind whose key of that name has the URL.
 */
export class JsonlReader implements EntryReader {
  readonly canSkip = true;
  settledLine = 0;
  readonly #defaults: RequestDefaults;
  readonly #urlColumn: string | null;

  constructor(defaults: RequestDefaults, urlColumn: string | null) {
    this.#defaults = defaults;
    this.#urlColumn = urlColumn;
  }

  read(text: string, line: number, emit: Emit): void {
    this.settledLine = line;
    const json = text.trim();
    if (json !== '' && !json.startsWith('#')) emit(line, this.#entryOf(json));
  }

  end(): void {}

  #entryOf(json: string): Entry {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (error) {
      return { reason: `it is not JSON: ${messageOf(error)}` };
    }
    if (typeof value === 'string') return toRequest({ url: value }, this.#defaults);
    if (!isObject(value)) return { reason: 'it must be a URL in quotes, or an object with a url' };
    return this.#urlColumn === null ? this.#fromStartUrl(value) : this.#fromColumn(value, this.#urlColumn);
  }

  #fromColumn(value: Record<string, unknown>, column: string): Entry {
    const url = value[column];
    return typeof url === 'string' ? toRequest({ url }, this.#defaults) : { reason: `its key ${column} is no text` };
  }

  #fromStartUrl(value: Record<string, unknown>): Entry {
    const result = startUrlSchema.safeParse(value);
    if (result.success) return toRequest(result.data, this.#defaults);
    return { reason: describeStartUrl(result.error.issues, value) };
  }
}

type Issues = Parameters<typeof describeIssues>[0];

function describeStartUrl(issues: Issues, value: Partial<StartUrl>): string {
  const problems = describeIssues(issues, { schema: startUrlSchema, value });
  return problems.map(({ path, text }) => `${pathText(path)}: ${text}`).join(' ');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
