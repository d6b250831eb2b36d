import {
  CriticalError,
  MissingRouteError,
  NonRetryableError,
  RequestValidationError,
  RetryRequestError,
  SessionError,
} from '@crawlee/core';
import { CrawlError, EnvironmentError, type Recovery, UsageError } from '../core/errors.ts';
import { failureKind } from '../core/failure-advice.ts';

/** Codes of failures above HTTP. With those of src/http/client.ts and `HTTP_<status>` they are all there are. */
export type FailureCode =
  | 'INVALID_JSON'
  | 'INVALID_USER_DATA'
  | 'UNKNOWN_LABEL'
  | 'HANDLER_FAILED'
  | 'HANDLER_TIMEOUT'
  | 'TOO_MANY_REDIRECTS'
  | 'REDIRECT_LOOP'
  | 'BAD_LOCATION'
  | 'POISON'
  | 'HOST_GIVEN_UP'
  | 'CONFIGURATION'
  | 'ABORTED'
  | 'ENVIRONMENT'
  | 'CRITICAL';

/** A failure with one of our codes; what to do next follows from the code. */
export class RequestFailure extends CrawlError {
  override readonly name = 'RequestFailure';
  readonly code: string;
  readonly recovery: Recovery;
  /** @param message names the host, label or value seen */
  constructor(code: FailureCode | `HTTP_${number}`, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.recovery = failureKind(code).recovery;
  }
}

/** @returns the code of a response that failed by its status, for example `HTTP_404`. */
export function codeOfStatus(status: number): `HTTP_${number}` {
  return `HTTP_${status}`;
}

/**
 * The stable code of anything thrown while a request was worked on.
 * @returns our errors' own code; for Crawlee's error classes and everything else a FailureCode
 */
export function failureCodeOf(error: unknown): string {
  if (error instanceof CrawlError) return error.code;
  if (error instanceof MissingRouteError) return 'UNKNOWN_LABEL';
  if (error instanceof RequestValidationError) return 'INVALID_USER_DATA';
  if (error instanceof CriticalError) return 'CRITICAL';
  if (error instanceof EnvironmentError) return 'ENVIRONMENT';
  if (error instanceof UsageError) return 'CONFIGURATION';
  if (isNamed(error, 'TimeoutError') || isNamed(error, 'InternalTimeoutError')) return 'HANDLER_TIMEOUT';
  if (isNamed(error, 'AbortError')) return 'ABORTED';
  const cause = causeOf(error);
  return cause instanceof CrawlError ? cause.code : 'HANDLER_FAILED';
}

/**
 * What to do next about anything thrown. Crawlee's classes keep their meaning, but for an unknown label, which fails
 * its own request and not the crawl, and SessionError, which costs a retry so that it cannot repeat for ever.
 */
export function recoveryOf(error: unknown): Recovery {
  if (error instanceof CrawlError) return OVERRULED.get(error.code) ?? error.recovery;
  if (error instanceof MissingRouteError) return 'skip';
  if (isFatal(error)) return 'stop';
  if (error instanceof NonRetryableError) return 'skip';
  if (error instanceof SessionError) return 'retry';
  if (error instanceof RetryRequestError) return 'wait';
  return isNamed(error, 'AbortError') ? 'wait' : 'retry';
}

function isFatal(error: unknown): boolean {
  return error instanceof CriticalError || error instanceof EnvironmentError || error instanceof UsageError;
}

const OVERRULED: ReadonlyMap<string, Recovery> = new Map([
  // A dead proxy says nothing of the request: another one, or this one later, at no cost.
  ['PROXY_FAILED', 'wait'],
  // Gateways send error pages with status 200; those that never send JSON are bounded by `mostRetries`.
  ['INVALID_JSON', 'retry'],
]);

// By name: they come from Node and from a vendored package whose copies are not the same class.
function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && (error.name === name || error.constructor.name === name);
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined;
}
