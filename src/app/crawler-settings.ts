import type { HostEntry } from '../config/host-schema.ts';
import { type Input, type InputDocument, inputSchema } from '../config/input-schema.ts';
import { UsageError } from '../core/errors.ts';
import { SECOND_MS } from '../core/units.ts';
import type { JsonCrawlerOptions } from '../crawl/json-crawler.ts';
import type { Route } from '../routes/define-route.ts';

/** Keys of the input document that a library user may give beside Crawlee's options. */
const DOCUMENT_KEYS = [
  'hosts',
  'headers',
  'followHosts',
  'contact',
  'userAgent',
  'productToken',
  'maxBodyBytes',
  'blockPrivateAddresses',
  'durability',
  'dataset',
  'select',
  'sourceColumn',
  'maxDurationSecs',
  'maxFailures',
  'maxFailureShare',
  'maxWaitSecs',
] as const satisfies readonly (keyof InputDocument)[];

type DocumentKeys = (typeof DOCUMENT_KEYS)[number];

/** Options of Crawlee's that are settings of hosts here. */
type HostOptions = {
  /** Least time between two requests to a host: `hosts.default.minDelayMs`. */
  sameDomainDelaySecs?: number;
  /** Robots.txt is obeyed unless this is false; with an object, by the rules for that name. */
  respectRobotsTxtFile?: boolean | { userAgent?: string };
};

export type JsonCrawlerSettings = JsonCrawlerOptions &
  HostOptions &
  Pick<InputDocument, DocumentKeys> & {
    /** Where runs are stored; CRAWLEE_STORAGE_DIR or `storage` when left out. */
    storageDir?: string;
    /** Name of the run; `default` when left out. Crawlers that run at once need one each. */
    run?: string;
    /** Begin anew though the run is unfinished; it is kept as `<run>.previous`. */
    fresh?: boolean;
    /** Routes by `defineRoute`, for requests with their labels. */
    routes?: readonly Route[];
    /**
     * What a request leaves that neither a handler nor a route takes: a row `{url, status, data, error}` each, unless
     * `none`, which has it fail. Only without a `requestHandler`.
     */
    records?: 'each' | 'none';
  };

type Parsed = {
  input: Input;
  crawlerOptions: JsonCrawlerOptions;
  storageDir: string;
  run: string;
  fresh: boolean;
  routes: readonly Route[];
  env: Readonly<Record<string, string | undefined>>;
};

/** @throws UsageError naming every option that cannot be used, and what to use instead */
export function readSettings(settings: JsonCrawlerSettings): Parsed {
  const problems = unusable(settings as Record<string, unknown>);
  const {
    storageDir,
    run,
    fresh,
    routes,
    records: _records,
    sameDomainDelaySecs,
    respectRobotsTxtFile,
    ...rest
  } = settings;
  const document: Record<string, unknown> = {};
  const crawlerOptions: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(rest)) {
    if (DOCUMENT_KEYS.includes(key as DocumentKeys)) document[key] = value;
    else if (!TRANSLATED.has(key)) crawlerOptions[key] = value;
  }
  const translated = { ...document, ...fromCrawlee(settings) };
  const parsed = inputSchema.safeParse(translated);
  if (!parsed.success)
    problems.push(...parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.')}: ${message}`));
  if (problems.length > 0 || !parsed.success) throw new UsageError(problems);
  return {
    input: parsed.data,
    crawlerOptions: crawlerOptions as JsonCrawlerOptions,
    storageDir: storageDir ?? process.env.CRAWLEE_STORAGE_DIR ?? 'storage',
    run: run ?? 'default',
    fresh: fresh ?? false,
    routes: routes ?? [],
    env: process.env,
  };
}

// Taken up by fromCrawlee; Crawlee's own constructor is not to see them.
const TRANSLATED: ReadonlySet<string> = new Set([
  'maxConcurrency',
  'minConcurrency',
  'maxRequestsPerMinute',
  'navigationTimeoutSecs',
  'sessionPoolOptions',
]);

/** Crawlee's options as the input document has them. */
function fromCrawlee(settings: JsonCrawlerSettings): Record<string, unknown> {
  const { maxConcurrency, maxRequestsPerMinute, autoscaledPoolOptions, respectRobotsTxtFile, hosts } = settings;
  const most = maxConcurrency ?? autoscaledPoolOptions?.maxConcurrency;
  const perMinute = maxRequestsPerMinute ?? autoscaledPoolOptions?.maxTasksPerMinute;
  const token = typeof respectRobotsTxtFile === 'object' ? respectRobotsTxtFile.userAgent : undefined;
  return {
    ...(most === undefined ? {} : { maxConcurrency: most }),
    ...(perMinute === undefined || perMinute === Number.POSITIVE_INFINITY ? {} : { maxRequestsPerMinute: perMinute }),
    ...(token === undefined || token === '*' ? {} : { productToken: token }),
    hosts: { ...hosts, default: mergedOver(defaultsOf(settings), hosts?.default) },
  };
}

function defaultsOf(settings: JsonCrawlerSettings): HostEntry {
  const { navigationTimeoutSecs, sameDomainDelaySecs, respectRobotsTxtFile } = settings;
  return withoutUndefined({
    minDelayMs: sameDomainDelaySecs === undefined ? undefined : sameDomainDelaySecs * SECOND_MS,
    robots: respectRobotsTxtFile === false ? 'ignore' : undefined,
    timeouts: navigationTimeoutSecs === undefined ? undefined : { totalMs: navigationTimeoutSecs * SECOND_MS },
    sessionPool: sessionPoolOf(settings),
  }) as HostEntry;
}

function sessionPoolOf({ sessionPoolOptions }: JsonCrawlerSettings): HostEntry['sessionPool'] | undefined {
  if (sessionPoolOptions === undefined) return undefined;
  const { maxPoolSize, blockedStatusCodes, sessionOptions = {} } = sessionPoolOptions;
  const { maxUsageCount, maxAgeSecs, maxErrorScore } = sessionOptions;
  const statuses = blockedStatusCodes?.filter((status) => status !== 429);
  return withoutUndefined({ maxPoolSize, maxUsageCount, maxAgeSecs, maxErrorScore, blockedStatusCodes: statuses });
}

function mergedOver(lower: HostEntry, upper: HostEntry = {}): HostEntry {
  const merged: Record<string, unknown> = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const below = merged[key];
    const areObjects = typeof value === 'object' && value !== null && typeof below === 'object' && below !== null;
    merged[key] = areObjects && !Array.isArray(value) ? { ...below, ...value } : value;
  }
  return merged as HostEntry;
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

/** What Crawlee takes and this crawler cannot do: said, not ignored. */
function unusable(settings: Record<string, unknown>): string[] {
  return Object.entries(UNUSABLE)
    .filter(([key]) => settings[key] !== undefined && settings[key] !== HARMLESS.get(key))
    .map(([key, instead]) => `${key}: ${instead}`);
}

const HARMLESS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['useSessionPool', true],
  ['persistCookiesPerSession', true],
  ['ignoreSslErrors', false],
  ['retryOnBlocked', false],
]);

const UNUSABLE: Readonly<Record<string, string>> = {
  requestQueue: 'the run has its own queue: give requests to run() or addRequests()',
  requestList: 'give the requests to run() or addRequests(), which take any iterable',
  requestManager: 'the run has its own queue: give requests to run() or addRequests()',
  httpClient: "millrace's own client sends the requests",
  useSessionPool:
    'each host has its sessions; a single one that is never refused is hosts.default.sessionPool.maxPoolSize: 1',
  persistCookiesPerSession:
    'cookies belong to their session; maxUsageCount: 1 under hosts.default.sessionPool gives each request a new one',
  ignoreSslErrors: 'TLS is verified; for a private authority set NODE_EXTRA_CA_CERTS',
  retryOnBlocked: 'refusals are seen by status: hosts.default.sessionPool.blockedStatusCodes',
  suggestResponseEncoding: 'the charset comes from the header or the byte order mark',
  forceResponseEncoding: 'the charset comes from the header or the byte order mark',
  experiments: 'it is about Crawlee’s own queue',
  handlePageFunction: 'use requestHandler',
  handleRequestFunction: 'use requestHandler',
  handleFailedRequestFunction: 'use failedRequestHandler',
  handleRequestTimeoutSecs: 'use requestHandlerTimeoutSecs',
};
