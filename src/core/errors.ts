/**
 * What the caller should do next:
 * retry = the same request again, after a backoff; wait = again later, at no cost to its retries;
 * skip = this request has failed for good; stop = the crawl cannot go on.
 */
export type Recovery = 'retry' | 'wait' | 'skip' | 'stop';

/** The root of all errors of a crawl. `code` is stable: users filter `failures` by it. */
export abstract class CrawlError extends Error {
  abstract readonly code: string;
  abstract readonly recovery: Recovery;
}

/** Bad usage or configuration: every problem found, nothing started. Exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** One line each: what, where, what to do. */
  readonly problems: readonly string[];
  constructor(problems: string | readonly string[], options?: ErrorOptions) {
    const list = typeof problems === 'string' ? [problems] : problems;
    super(list.join('\n'), options);
    this.problems = list;
  }
}

/** The environment refuses: port in use, storage not writable, run in use, disk full. Exit code 1. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** @returns the message of anything thrown, on one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replaceAll(/\s*\n\s*/g, ' ');
}
