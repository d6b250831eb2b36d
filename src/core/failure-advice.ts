import type { Recovery } from './errors.ts';

/** What a failure code means, what the crawl does about it, and what its user can do next. */
export type FailureKind = {
  recovery: Recovery;
  /** Fewer retries than the host allows; left out = as many. */
  mostRetries?: number;
  meaning: string;
  advice: string;
};

const RETRY_LATER = 'The server may be back by now: run retry-failed. If it stays, lower maxConcurrency for this host.';
const CHECK_NETWORK = 'Check the network and the host with `probe`, then run retry-failed.';
const SLOW_SERVER =
  'Lower maxConcurrency for this host, or raise the timeout named in the code, then run retry-failed.';
const CHECK_URL = 'Check the URL or the route that produced it.';
const CHECK_CREDENTIAL = 'Check the credential (its value, its scope, whether it has expired), then run retry-failed.';
const CHECK_INPUT = 'Compare the request with what the API documents.';

/**
 * Every failure code but the statuses (`HTTP_404`), which `failureKind` adds. Codes are stable: people filter
 * `failures` and `retry-failed --code` by them. docs/failures.md is this table.
 */
export const FAILURE_KINDS: Readonly<Record<string, FailureKind>> = {
  DNS_NOT_FOUND: {
    recovery: 'retry',
    meaning: 'The host name does not exist',
    advice: 'Check the spelling of the host; if it is right, the name server is at fault.',
  },
  DNS_FAILED: { recovery: 'retry', meaning: 'The name server did not answer', advice: CHECK_NETWORK },
  CONNECTION_REFUSED: {
    recovery: 'retry',
    meaning: 'Nothing listens at this host and port',
    advice: 'Check the port and whether the service is up, then run retry-failed.',
  },
  CONNECTION_RESET: { recovery: 'retry', meaning: 'The connection was cut before the answer', advice: RETRY_LATER },
  CONNECTION_FAILED: { recovery: 'retry', meaning: 'No connection could be made', advice: CHECK_NETWORK },
  TIMEOUT_CONNECT: { recovery: 'retry', meaning: 'No connection within connectMs', advice: CHECK_NETWORK },
  TIMEOUT_FIRST_BYTE: { recovery: 'retry', meaning: 'No answer began within firstByteMs', advice: SLOW_SERVER },
  TIMEOUT_IDLE: { recovery: 'retry', meaning: 'The body paused for longer than idleMs', advice: SLOW_SERVER },
  TIMEOUT_TOTAL: { recovery: 'retry', meaning: 'The attempt took longer than totalMs', advice: SLOW_SERVER },
  TLS_FAILED: {
    recovery: 'retry',
    meaning: 'The certificate is not valid, or no common protocol was found',
    advice: 'Look at the certificate with `probe`; for a private authority set NODE_EXTRA_CA_CERTS.',
  },
  HTTP_PROTOCOL: {
    recovery: 'retry',
    meaning: 'The answer is not valid HTTP',
    advice: 'Set http2: off for this host, or httpClient: got-scraping, which is more lenient.',
  },
  TRUNCATED_BODY: { recovery: 'retry', meaning: 'The body ended before its stated length', advice: RETRY_LATER },
  BAD_ENCODING: {
    recovery: 'retry',
    meaning: 'The body could not be decompressed or decoded',
    advice: 'Ask for the plain body with the header accept-encoding: identity.',
  },
  TOO_LARGE: {
    recovery: 'skip',
    meaning: 'The body is larger than maxBodyBytes after decompression',
    advice: 'Ask for smaller pages, or raise maxBodyBytes.',
  },
  PROXY_FAILED: {
    recovery: 'wait',
    meaning: 'The proxy did not answer, or refused',
    advice: 'Check the proxy and its credentials, then run retry-failed.',
  },
  BLOCKED_ADDRESS: {
    recovery: 'skip',
    meaning: 'The host resolves to a private address, which blockPrivateAddresses refuses',
    advice: 'Set blockPrivateAddresses: false if you trust where the URLs come from.',
  },
  INVALID_URL: { recovery: 'skip', meaning: 'Not an absolute http or https URL', advice: CHECK_URL },
  INVALID_REQUEST: {
    recovery: 'skip',
    meaning: 'The request cannot be sent as it is: a header or method that HTTP does not allow',
    advice: 'Correct the header or method that the message names.',
  },
  INVALID_JSON: {
    recovery: 'retry',
    // A gateway's error page is gone the next moment; a page that always is HTML must not cost its host five more.
    mostRetries: 2,
    meaning: 'The body is not JSON',
    advice: 'Look at bodyExcerpt: often a login or error page. Check the URL and its Accept header.',
  },
  INVALID_USER_DATA: {
    recovery: 'skip',
    meaning: "The request's userData does not fit its route's schema",
    advice: 'Correct the userData where the request is made.',
  },
  UNKNOWN_LABEL: {
    recovery: 'skip',
    meaning: 'No route has the label of the request',
    advice: 'Correct the label, or add the route to src/routes/index.ts.',
  },
  HANDLER_FAILED: {
    recovery: 'retry',
    meaning: 'The route threw an error',
    advice: 'Correct the route (the message says what failed), then run retry-failed.',
  },
  ROUTE_FAILED: {
    recovery: 'skip',
    meaning: 'The route threw an error, or asked for what cannot be done; the same page would do it again',
    advice: 'Correct the route (the message says what failed), then run retry-failed.',
  },
  HANDLER_TIMEOUT: {
    recovery: 'retry',
    meaning: 'The route took longer than handlerMs',
    advice: 'Make the route faster, or raise timeouts.handlerMs, then run retry-failed.',
  },
  TOO_MANY_REDIRECTS: { recovery: 'skip', meaning: 'More than ten redirects', advice: CHECK_URL },
  REDIRECT_LOOP: {
    recovery: 'skip',
    meaning: 'A redirect led back to a URL already visited',
    advice: 'The server may expect a cookie or a credential that the request did not carry.',
  },
  BAD_LOCATION: {
    recovery: 'skip',
    meaning: 'A redirect without a usable Location',
    advice: 'The fault lies with the server. Use the final URL if you know it.',
  },
  SECRET_REDIRECTED: {
    recovery: 'skip',
    meaning: 'A redirect would have taken a body that holds a secret to another origin',
    advice: 'If you trust where it leads, make that the baseUrl.',
  },
  POISON: {
    recovery: 'skip',
    meaning: 'The process died three times while it worked on this request',
    advice: 'Fetch it alone in a run of its own and look at its size and its route; lower maxBodyBytes.',
  },
  HOST_GIVEN_UP: {
    recovery: 'wait',
    meaning: 'The host made no progress for stallSecs, or asked for a wait beyond maxServerWaitSecs',
    advice: 'Its requests stay pending: the same command continues the run when the host is back.',
  },
  UNAUTHORIZED: {
    recovery: 'retry',
    meaning: "The API refused the token that the api's auth had got",
    advice: CHECK_CREDENTIAL,
  },
  AUTH_FAILED: {
    recovery: 'stop',
    meaning: 'The token server refused the credentials under api.auth',
    advice: 'Check client id, secret and scope; the same command continues the run.',
  },
  AUTH_UNREACHABLE: {
    recovery: 'retry',
    meaning: 'The token server did not answer',
    advice: 'Check the token URL under api.auth, then run retry-failed.',
  },
  SELECTOR_NO_MATCH: {
    recovery: 'skip',
    meaning: "The resource's dataSelector matches nothing in the response",
    advice: 'Set dataSelector to a list that the message names, and try it with --sample 1.',
  },
  SELECTOR_NO_LIST: {
    recovery: 'skip',
    meaning: "The resource's dataSelector points at something that is no list",
    advice: 'Let dataSelector end in [*], or name the list.',
  },
  REPEATED_CURSOR: {
    recovery: 'skip',
    meaning: 'A page names a cursor that an earlier page named already: it would go round for ever',
    advice: 'Check cursorPath and cursorParam of the paginator.',
  },
  REPEATED_PAGE: {
    recovery: 'skip',
    meaning: 'A page is the same as the one before: the server ignores the paging parameters',
    advice: "Check the paginator's parameter names against the API's documentation.",
  },
  PARENT_FIELD_MISSING: {
    recovery: 'skip',
    meaning: 'A record lacks the field that the path of a child resource is made from',
    advice: 'Check the {resources.NAME.FIELD} in the path against the records.',
  },
  PAGINATOR_FAILED: {
    recovery: 'skip',
    meaning: 'The paginator of your own threw an error',
    advice: 'Correct it (the message says what failed), then run retry-failed.',
  },
  RESPONSE_ACTION: {
    recovery: 'retry',
    meaning: 'A responseAction of the resource calls the response a failure',
    advice: 'See the message for the rule that matched, and bodyExcerpt for what the API said.',
  },
  RESET_PAGINATION_LOOP: {
    recovery: 'skip',
    meaning: 'A responseAction started the paging anew too often',
    advice: 'Look at what the API says of expired cursors; smaller pages may finish in time.',
  },
  GRAPHQL_ERROR: {
    recovery: 'skip',
    meaning: 'GraphQL answered 200 with errors and no data',
    advice: 'Correct the query or its variables: the message has the error.',
  },
  SCHEMA_FROZEN: {
    recovery: 'skip',
    meaning: 'The records have fields that a frozen schemaContract does not know',
    advice: 'Add the fields to the schema, or set schemaContract to evolve, then run retry-failed.',
  },
  CONFIGURATION: {
    recovery: 'stop',
    meaning: 'A setting cannot be used: a proxy, a credential, a missing environment variable',
    advice: 'Correct what the message names; the same command continues the run.',
  },
  ABORTED: {
    recovery: 'wait',
    meaning: 'The crawl was stopped before the answer came',
    advice: 'Nothing is lost: the same command continues the run.',
  },
  ENVIRONMENT: {
    recovery: 'stop',
    meaning: 'The machine refused: disk full, storage not writable',
    advice: 'Make room or fix the permissions; the same command continues the run.',
  },
  CRITICAL: {
    recovery: 'stop',
    meaning: 'A handler threw a CriticalError, which ends the crawl',
    advice: 'See the message; the same command continues the run.',
  },
};

const STATUS_ADVICE: Readonly<Record<number, { meaning: string; advice: string }>> = {
  400: { meaning: 'The server finds the request malformed', advice: CHECK_INPUT },
  401: { meaning: 'The server wants a valid credential', advice: CHECK_CREDENTIAL },
  402: { meaning: 'The server wants payment', advice: 'Check the plan and the quota of the account.' },
  403: {
    meaning: 'The server refuses this identity',
    advice: `${CHECK_CREDENTIAL} If there is none, the server may block the User-Agent or the address.`,
  },
  404: { meaning: 'There is nothing at the URL', advice: CHECK_URL },
  405: { meaning: 'The URL does not take this method', advice: CHECK_INPUT },
  406: {
    meaning: 'The server cannot answer in a type that was asked for',
    advice: 'Set the Accept header the API documents.',
  },
  408: { meaning: 'The server gave up waiting for the request', advice: RETRY_LATER },
  410: { meaning: 'What was at the URL is gone for good', advice: 'Take the URL off the list.' },
  413: { meaning: 'The request body is too large for the server', advice: 'Send smaller batches.' },
  414: { meaning: 'The URL is too long for the server', advice: 'Ask for fewer items in one URL.' },
  415: { meaning: 'The server does not take this content type', advice: 'Set the content-type the API documents.' },
  422: { meaning: 'The server understood the request and finds it invalid', advice: CHECK_INPUT },
  429: {
    meaning: 'The server asked for fewer requests',
    advice: 'Set requestsPerSecond for this host, or find it with `ramp`.',
  },
  451: { meaning: 'Withheld for legal reasons', advice: 'Take the URL off the list.' },
};

const STATUS_CODE = /^HTTP_(\d{3})$/;

/**
 * @param code a key of FAILURE_KINDS, or `HTTP_` and a status
 * @returns what is known of it; for a code nobody knows (a route's own error class) that of HANDLER_FAILED
 */
export function failureKind(code: string): FailureKind {
  const status = STATUS_CODE.exec(code)?.[1];
  if (status !== undefined) return statusKind(Number(status));
  return (Object.hasOwn(FAILURE_KINDS, code) ? FAILURE_KINDS[code] : FAILURE_KINDS.HANDLER_FAILED) as FailureKind;
}

/** @returns one sentence or two on what to do about a failure code. */
export function failureAdvice(code: string): string {
  return failureKind(code).advice;
}

// The status codes worth a retry are settings: only decideRetry knows them.
function statusKind(status: number): FailureKind {
  const recovery: Recovery = status >= 500 ? 'retry' : status === 429 ? 'wait' : 'skip';
  const known = STATUS_ADVICE[status];
  if (known) return { recovery, ...known };
  if (status >= 500) return { recovery, meaning: 'The server failed', advice: RETRY_LATER };
  if (status >= 400) return { recovery, meaning: 'The server refused the request', advice: CHECK_INPUT };
  return { recovery, meaning: 'A status the crawl cannot use', advice: CHECK_URL };
}
