import { readFileSync } from 'node:fs';
import { FAILURE_KINDS, type FailureKind } from '../../src/core/failure-advice.ts';

const TEMPLATE = new URL('./troubleshooting.template.md', import.meta.url);

/** Failures that are looked into in the same way. */
type Group = { title: string; look: string; codes: readonly string[] };

const GROUPS: readonly Group[] = [
  {
    title: 'The host cannot be reached',
    look: '`millrace probe URL` from the same machine shows which step fails: the name, the connection, TLS. Other hosts are not held up by it.',
    codes: [
      ...['DNS_NOT_FOUND', 'DNS_FAILED', 'CONNECTION_REFUSED', 'CONNECTION_RESET', 'CONNECTION_FAILED', 'TLS_FAILED'],
      ...['PROXY_FAILED', 'BLOCKED_ADDRESS', 'HOST_GIVEN_UP'],
    ],
  },
  {
    title: 'It takes too long',
    look: 'The code names the timeout under `hosts.<host>.timeouts`. Look at p95 of the host in the report: where it grew with the crawl, the server is overloaded, and fewer requests at once are faster.',
    codes: ['TIMEOUT_CONNECT', 'TIMEOUT_FIRST_BYTE', 'TIMEOUT_IDLE', 'TIMEOUT_TOTAL', 'HANDLER_TIMEOUT'],
  },
  {
    title: 'The answer cannot be used',
    look: '`bodyExcerpt` in dataset `failures` has the first characters of the body: a login page, a gateway’s error and a notice of maintenance are told at a glance.',
    codes: ['HTTP_PROTOCOL', 'TRUNCATED_BODY', 'BAD_ENCODING', 'TOO_LARGE', 'INVALID_JSON'],
  },
  {
    title: 'Redirects',
    look: 'Up to ten are followed, each under the pace of its own host. Credentials stay with the origin they are for.',
    codes: ['TOO_MANY_REDIRECTS', 'REDIRECT_LOOP', 'BAD_LOCATION', 'SECRET_REDIRECTED'],
  },
  {
    title: 'Who you are is refused',
    look: 'So are HTTP_401 and HTTP_403, once no other session or credential is left to try. A secret is never shown: the name of its reference is.',
    codes: ['UNAUTHORIZED', 'AUTH_FAILED', 'AUTH_UNREACHABLE'],
  },
  {
    title: 'The request cannot be made',
    look: 'It was not sent. The message has the value that is wrong.',
    codes: ['INVALID_URL', 'INVALID_REQUEST', 'INVALID_USER_DATA', 'UNKNOWN_LABEL'],
  },
  {
    title: 'The API is not as the document says',
    look: '`millrace crawl crawl.yaml --sample 1` fetches one page of each resource into a run of its own: compare a response with the selectors.',
    codes: [
      ...['SELECTOR_NO_MATCH', 'SELECTOR_NO_LIST', 'REPEATED_CURSOR', 'REPEATED_PAGE', 'PARENT_FIELD_MISSING'],
      ...['PAGINATOR_FAILED', 'RESPONSE_ACTION', 'RESET_PAGINATION_LOOP', 'GRAPHQL_ERROR', 'SCHEMA_FROZEN'],
    ],
  },
  {
    title: 'Code of your own',
    look: 'The message is the error’s, with its cause. `--verbose` has the stack. A route can be tested from a recorded response: [add-an-api.md](add-an-api.md).',
    codes: ['HANDLER_FAILED', 'ROUTE_FAILED', 'CRITICAL', 'POISON'],
  },
  {
    title: 'The crawl itself',
    look: 'It ends, or was ended, and its requests stay pending: nothing is lost.',
    codes: ['CONFIGURATION', 'ENVIRONMENT', 'ABORTED'],
  },
];

/** @returns docs/troubleshooting.md @throws when a failure code stands in no group, or a group names one there is not */
export function troubleshootingPage(): string {
  const grouped = GROUPS.flatMap(({ codes }) => codes);
  const missing = Object.keys(FAILURE_KINDS).filter((code) => !grouped.includes(code));
  if (missing.length > 0) throw new Error(`troubleshooting-page.ts: in no group: ${missing.join(', ')}`);
  const sections = GROUPS.map(groupSection).join('\n');
  return readFileSync(TEMPLATE, 'utf8').replace('<!-- failures -->\n', () => sections);
}

function groupSection({ title, look, codes }: Group): string {
  return `### ${title}\n\n${look}\n\n${codes.map(entry).join('\n')}\n`;
}

function entry(code: string): string {
  const kind = FAILURE_KINDS[code];
  if (kind === undefined) throw new Error(`troubleshooting-page.ts: there is no failure code ${code}`);
  return `- **${code}** (${whatTheCrawlDoes(kind)}): ${kind.meaning}. ${kind.advice}`;
}

function whatTheCrawlDoes({ recovery, mostRetries }: FailureKind): string {
  if (recovery === 'retry') return mostRetries === undefined ? 'retried' : `retried at most ${mostRetries} times`;
  return { wait: 'waited out, costs no retry', skip: 'fails at once', stop: 'stops the crawl' }[recovery];
}
