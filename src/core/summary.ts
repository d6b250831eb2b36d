/** What a run has done: `--json`, report.json, and what the page shows. Times in ms unless the name says otherwise. */
export type Summary = {
  run: string;
  state: 'running' | 'finished' | 'incomplete' | 'interrupted';
  /** ISO 8601. */
  startedAt: string;
  durationSecs: number;
  input: { lines: number; malformed: number; duplicates: number };
  requests: {
    total: number;
    succeeded: number;
    failed: number;
    skipped: number;
    pending: number;
    retries: number;
    notModified: number;
  };
  /**
   * Requests of the counts above that the figures below (rate, statuses, latency, times, hosts) leave out: what is kept of
   * them is written every second (every fifth of a long crawl), and lost with a process that is killed. Left out = none.
   */
  unrecorded?: number;
  skipped: Record<string, number>;
  /** `message` is what was said of the example; left out while the crawl runs. */
  failures: { code: string; host: string; count: number; example: string; message?: string; advice: string }[];
  records: Record<string, number>;
  invalid: number;
  requestsPerSecond: number | null;
  statusCodes: Record<string, number>;
  latencyMs: { p50: number | null; p95: number | null; p99: number | null; mean: number | null };
  /** Totals over all requests. */
  timeMs: Record<
    'politeness' | 'queue' | 'dns' | 'connect' | 'tls' | 'firstByte' | 'download' | 'parse' | 'handler' | 'commit',
    number
  >;
  connections: {
    opened: number;
    requests: number;
    reusePercent: number | null;
    http2Percent: number | null;
    waiting: number;
  };
  hosts: Record<string, HostSummary>;
  theoreticalRps: number | null;
  achievedShare: number | null;
  slotUtilisation: number | null;
  completeness: CompletenessSummary[] | null;
  /** How datasets differ from those of the run of the same name before; null when there is none to compare with. */
  drift: SchemaDrift[] | null;
  workers: { id: string; requests: number; records: number }[] | null;
  diagnosis: { bottleneck: string; share: number; evidence: string; advice: string }[] | null;
  exports: string[];
};

export type HostSummary = {
  requests: number;
  succeeded: number;
  failed: number;
  rateLimited: number;
  limitRps: number | null;
  limitSource: 'configured' | 'stated' | 'discovered' | null;
  concurrency: number | null;
  latencyMs: { p50: number | null; p95: number | null; p99: number | null; mean: number | null };
  baseLatencyMs: number | null;
  roundTripMs: number | null;
  httpVersion: string | null;
  /** ISO 8601; null while not parked. */
  parkedUntil: string | null;
  /** Why it was given up; null while it is not. */
  givenUp: string | null;
};

export type CompletenessSummary = {
  resource: string;
  declared: number | null;
  fetched: number;
  duplicates: number;
  gaps: number;
  suspectedShifts: number;
  /** Its requests that have failed: what they would have brought is missing. Left out = none. */
  failed?: number;
  /** Records that came and were not kept as they came, by why; left out = none. */
  records?: {
    /** Left out: before the increment's start, or not before its end. */
    outside: number;
    /** Dropped by schemaContract discardRow. */
    discarded: number;
    /** Kept though they do not fit the schema (evolve, discardValue). */
    drifted: number;
  };
  /** From where to where it went; left out = not incremental. `held` says why it stays where it is; null = it does not. */
  increment?: { from: string | number; to: string | number; held: string | null };
};

/** One difference between the records of two runs. */
export type SchemaDrift = {
  dataset: string;
  /** Path of the field: `a.b` in objects, `a[]` for the items of a list. */
  field: string;
  /** empty = the share of null or missing values. */
  change: 'added' | 'removed' | 'type' | 'empty';
  /** What it was and is: types, or a share in percent; null where there is no such field. */
  before: string | null;
  after: string | null;
};
