import { EnvironmentError, messageOf } from '../../core/errors.ts';

/** What to do after a statement failed: again at once, again when the server is there, or give up. */
export type FailureKind = 'again' | 'unreachable' | 'final';

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const AGAIN: ReadonlySet<string> = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
]);
const UNREACHABLE: ReadonlySet<string> = new Set([
  '25006', // read_only_sql_transaction: a standby that is not promoted yet
  '25P03', // idle_in_transaction_session_timeout: this process was paused
  '53300', // too_many_connections
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now: starting up, or recovering
  '58000', // system_error, as poolers say that the server is gone
  '08P01', // protocol_violation, as pgbouncer says that its server is gone
]);
const NETWORK: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
]);
// What pg says without a code when its socket is gone, or an answer does not come.
const LOST =
  /connection terminated|not queryable|read timeout|timeout exceeded when trying to connect|client was closed/i;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** @returns what a failed statement or connection means for whoever ran it */
export function failureKind(error: unknown): FailureKind {
  const code = codeOf(error);
  if (code !== null && AGAIN.has(code)) return 'again';
  if (code !== null && (UNREACHABLE.has(code) || code.startsWith('08') || NETWORK.has(code))) return 'unreachable';
  return error instanceof Error && code === null && LOST.test(error.message) ? 'unreachable' : 'final';
}

/**
 * Says what PostgreSQL met in words that help. `place` is the shown address, without secrets.
 * @returns an EnvironmentError for what lies outside of the program, else the error itself
 */
export function explainPostgresError(error: unknown, place: string): unknown {
  if (error instanceof EnvironmentError) return error;
  const text = messageOf(error);
  const say = (words: string): EnvironmentError => new EnvironmentError(words, { cause: error });
  if (failureKind(error) === 'unreachable') return say(`PostgreSQL at ${place} cannot be reached: ${text}`);
  switch (codeOf(error)) {
    case 'ENOTFOUND':
      return say(`The PostgreSQL server of ${place} is not known by that name: ${text}`);
    case '28P01':
    case '28000':
      return say(`PostgreSQL at ${place} refuses the user or password: ${text}`);
    case '3D000':
      return say(`There is no such database at ${place}: ${text}. Create it, or name another in --database.`);
    case '42501':
      return say(
        `The user at ${place} lacks a privilege: ${text}. It has to own the schema, or may CREATE in the database.`,
      );
    case '53100':
      return say(`The disk of PostgreSQL at ${place} is full: ${text}`);
    default:
      return error;
  }
}

function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  // Several addresses of a host were tried, none answered.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && (SQLSTATE.test(code) || code.startsWith('E')) ? code : null;
}
