import type { Request } from '@crawlee/core';

/** Dataset of requests that failed for good, and of records that did not fit their schema. */
export const FAILURES_DATASET = 'failures';
export const INVALID_DATASET = 'invalid';

/** A row of dataset `invalid`. */
export type InvalidRow = {
  url: string;
  label: string;
  /** Only where `record` is a whole body: the URL that answered, after redirects. */
  loadedUrl?: string;
  /** "items[3].price: expected number" */
  issues: readonly string[];
  record: unknown;
};

/** A row of dataset `failures`. */
export type FailureRecord = {
  url: string;
  method: string;
  label: string | null;
  status: number | null;
  code: string;
  message: string;
  attempts: number;
  /** ISO 8601. */
  firstAt: string;
  lastAt: string;
  bodyExcerpt: string | null;
};

// Enough to see what the server said; not enough to fill a disk with error pages.
const EXCERPT_CHARS = 500;

/**
 * @param facts.firstAtMs epoch ms of the first attempt
 * @param facts.conceal takes secrets out: servers repeat what they were sent
 */
export function failureRecord(
  request: Request,
  facts: {
    status: number | null;
    code: string;
    message: string;
    firstAtMs: number;
    lastAtMs: number;
    body: Buffer | null;
    conceal: (text: string) => string;
  },
): FailureRecord {
  return {
    url: request.url,
    method: request.method,
    label: request.label ?? null,
    status: facts.status,
    code: facts.code,
    message: facts.message,
    attempts: request.retryCount + 1,
    firstAt: new Date(facts.firstAtMs).toISOString(),
    lastAt: new Date(facts.lastAtMs).toISOString(),
    bodyExcerpt: facts.body === null || facts.body.length === 0 ? null : excerpt(facts.body, facts.conceal),
  };
}

function excerpt(body: Buffer, conceal: (text: string) => string): string {
  // A character has at most four bytes. Concealed first: a secret that is cut in two would not be known.
  return conceal(body.toString('utf8', 0, EXCERPT_CHARS * 4)).slice(0, EXCERPT_CHARS);
}
