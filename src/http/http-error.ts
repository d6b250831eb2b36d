import { CrawlError, type Recovery } from '../core/errors.ts';
import type { HttpErrorCode, WireTimings } from './client.ts';

// A repeat cannot help these; all others are worth a retry.
const PERMANENT: ReadonlySet<HttpErrorCode> = new Set([
  'TOO_LARGE',
  'BLOCKED_ADDRESS',
  'INVALID_URL',
  'INVALID_REQUEST',
]);

export type HttpErrorFacts = {
  code: HttpErrorCode;
  /** Names the host and what was seen. */
  message: string;
  /** Whether any byte of the request may have reached the server: decides if a POST may be repeated. */
  wasSent: boolean;
  /** Refused before it was processed (GOAWAY, REFUSED_STREAM): a repeat costs no retry. */
  unprocessed?: boolean;
  timings?: Partial<WireTimings>;
};

/** A request that got no usable response. */
export class HttpError extends CrawlError {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  readonly recovery: Recovery;
  readonly wasSent: boolean;
  readonly unprocessed: boolean;
  readonly timings: Partial<WireTimings>;
  constructor(facts: HttpErrorFacts, options?: ErrorOptions) {
    super(facts.message, options);
    this.code = facts.code;
    this.recovery = PERMANENT.has(facts.code) ? 'skip' : facts.unprocessed ? 'wait' : 'retry';
    this.wasSent = facts.wasSent;
    this.unprocessed = facts.unprocessed ?? false;
    this.timings = facts.timings ?? {};
  }
}
