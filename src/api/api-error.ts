import { CrawlError, type Recovery } from '../core/errors.ts';

/** Stable codes of what can go wrong in a declared resource; all are listed in docs/failures.md. */
export type ApiErrorCode =
  | 'SELECTOR_NO_MATCH'
  | 'SELECTOR_NO_LIST'
  | 'REPEATED_CURSOR'
  | 'REPEATED_PAGE'
  | 'PARENT_FIELD_MISSING'
  | 'SCHEMA_FROZEN'
  | 'RESPONSE_ACTION'
  | 'RESET_PAGINATION_LOOP'
  | 'GRAPHQL_ERROR'
  | 'PAGINATOR_FAILED'
  | 'UNAUTHORIZED'
  | 'AUTH_FAILED'
  | 'AUTH_UNREACHABLE';

/** A request of a declared resource that cannot succeed, or not now. */
export class ApiError extends CrawlError {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly recovery: Recovery;
  constructor(facts: { code: ApiErrorCode; message: string; recovery?: Recovery }, options?: ErrorOptions) {
    super(facts.message, options);
    this.code = facts.code;
    this.recovery = facts.recovery ?? 'skip';
  }
}
