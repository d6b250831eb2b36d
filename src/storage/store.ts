/**
 * One run's storage, shaped like Crawlee 4's StorageBackend: locking is internal, writes come in batches, and what
 * one request produced is committed in one transaction with its acknowledgement. SQLite and PostgreSQL implement it;
 * the Crawlee 3 StorageClient is a thin adapter over it.
 */

/** A request to be stored. `host` is `URL.host`; `data` is the JSON of what else a Crawlee Request carries. */
export type NewRequest = {
  uniqueKey: string;
  url: string;
  host: string;
  method: string;
  /** Crawlee's label; null when there is none. */
  label: string | null;
  /** JSON object with payload, headers, userData, crawlDepth, ...; null when all are at their defaults. */
  data: string | null;
  /** Goes before all that waits, when it comes with a unit of work; left out = after. `add` has an option for it. */
  forefront?: boolean;
};

export type AddResult = { id: string; wasAlreadyPresent: boolean; wasAlreadyHandled: boolean };

/** The right to work on one request until `expiresAtMs`; every write is fenced by it. */
export type Lease = { requestId: number; token: number };

/** A request handed out. `patch` is the JSON a retry left behind (retry count, error messages, ...), or null. */
export type LeasedRequest = NewRequest & {
  lease: Lease;
  /** Crawlee's request id (15 characters of the unique key's hash). */
  id: string;
  /** How often it was handed out, this time included: a request that keeps killing its process is poison. */
  claims: number;
  patch: string | null;
  addedAtMs: number;
};

export type HandledResult = 'succeeded' | 'failed' | 'skipped';

/**
 * What became of a request. `reason` is the skip reason, or the code of the failure; they are counted, so few distinct
 * ones are expected.
 */
export type Outcome =
  | { kind: 'handled'; result: HandledResult; reason: string | null; patch: string | null }
  /** Again, not before `notBeforeMs` (epoch ms; null = as soon as possible). */
  | { kind: 'retry'; notBeforeMs: number | null; patch: string | null; forefront: boolean };

/**
 * A record for a dataset, already serialised. Stored with the request it came from: when the same request is handled
 * again (after `requeue`), its earlier rows are replaced in the same transaction.
 */
export type NewRecord = { dataset: string; json: string };

/** Which handled requests to put back: all criteria given must hold. */
export type RequeueSelection = {
  result: HandledResult;
  /** Only with one of these reasons (failure codes). */
  reasons?: readonly string[];
  hosts?: readonly string[];
  /** Only those handled at or after this time, epoch ms. */
  handledSinceMs?: number;
};

/** Requests handled so far, in the order they were added; `nextId` is where the next page begins, null = that was all. */
export type HandledPage = { requests: (StoredRequest & { reason: string | null })[]; nextId: number | null };

/** What takes the place of one row: all of it is the request's that the row came from. */
export type RowReplacement = Pick<UnitOfWork, 'records' | 'requests' | 'values'> & { seq: number };

/** All that one request did; committed as a whole or not at all. */
export type UnitOfWork = {
  lease: Lease;
  outcome: Outcome;
  records: readonly NewRecord[];
  requests: readonly NewRequest[];
  /** Key-value writes (useState, increments); value null deletes. */
  values: readonly { key: string; json: string | null }[];
  /** Columns first seen in these records, in order: kept so that a CSV can start at once. */
  columns: readonly { dataset: string; path: string }[];
};

/** committed; or lost = the lease had expired and somebody else has the request: nothing was written. */
export type CommitResult = { status: 'committed' | 'lost'; added: number };

export type ClaimOptions = {
  /** At most so many requests in all. */
  limit: number;
  /** At most so many of one host in this claim. */
  perHost: number;
  /** Hosts that cannot send now (parked) or have enough buffered: nothing of them is handed out. */
  skipHosts: ReadonlySet<string>;
  leaseMs: number;
  /** Whoever claims again after a claim that gave something needs no `nextDueAtMs` of it: now is what it may say. */
  claimsAgain?: boolean;
};

export type Claim = {
  requests: LeasedRequest[];
  /**
   * Epoch ms at which the next waiting request of a host not skipped is due (now or earlier: more could be claimed at
   * once); null when none waits. Requests leased by another worker count as due when their lease ends.
   */
  nextDueAtMs: number | null;
};

/** A request as it is stored, handled or not. */
export type StoredRequest = NewRequest & { id: string; handledAtMs: number | null; patch: string | null };

export type QueueCounts = {
  total: number;
  succeeded: number;
  failed: number;
  skipped: number;
  /** Not handled: waiting, delayed or leased. */
  pending: number;
};

/** The hot path of a run's request queue. Times are epoch ms of the store's clock. */
export interface QueueStore {
  /** Adds those whose unique key is new. Results in the order given. */
  add(requests: readonly NewRequest[], options?: { forefront?: boolean }): Promise<AddResult[]>;
  /**
   * Leases due requests, fair by host: every due host not skipped gets its turn before one gets a second batch.
   */
  claim(options: ClaimOptions): Promise<Claim>;
  /** One transaction for the whole batch; idempotent: the same unit again answers as the first time. */
  commit(units: readonly UnitOfWork[]): Promise<CommitResult[]>;
  /** Prolongs leases to now + leaseMs; those already lost are returned. */
  renew(leases: readonly Lease[], leaseMs: number): Promise<Lease[]>;
  /** Gives requests back untouched: they are due at once and the claim is not counted. */
  release(leases: readonly Lease[]): Promise<void>;
  /** Frees every lease of workers that are gone. Called when a run is opened by its only user. */
  releaseAll(): Promise<number>;
  /**
   * Puts handled requests back, as for retry-failed: they wait again, and the records of their earlier commits are
   * replaced when they are handled anew. @returns how many
   */
  requeue(selection: RequeueSelection): Promise<number>;
  /** Looks at some thousand handled requests from `fromId` on (0 = the first), so a page may have none of the selection. */
  handled(selection: RequeueSelection, fromId: number): Promise<HandledPage>;
  get(uniqueKey: string): Promise<StoredRequest | null>;
  /** From counters, no scan. */
  counts(): Promise<QueueCounts>;
  /** Skipped requests by reason, from counters. */
  skipReasons(): Promise<Record<string, number>>;
  /** Failed requests by reason (the failure's code), from counters. */
  failureReasons(): Promise<Record<string, number>>;
  /** The hosts with most unhandled requests, most first. */
  pendingHosts(limit: number): Promise<{ host: string; pending: number }[]>;
}

/** One row on its way out; `seq` grows by commit order within a dataset. */
export type StoredRecord = { seq: number; json: string };

export type DatasetInfo = { name: string; count: number };

export interface DatasetStore {
  list(): Promise<DatasetInfo[]>;
  /** Appends outside of a unit of work: at-least-once. */
  push(dataset: string, jsons: readonly string[]): Promise<void>;
  /** Keyset paging: rows with seq > afterSeq, in order. */
  page(dataset: string, options: { afterSeq: number; limit: number }): Promise<StoredRecord[]>;
  /** The request whose work wrote the row; null when there is no such row, or it came otherwise. */
  requestOf(dataset: string, seq: number): Promise<StoredRequest | null>;
  /** Flattened column paths in first-seen order. */
  columns(dataset: string): Promise<string[]>;
  addColumns(dataset: string, paths: readonly string[]): Promise<void>;
  /**
   * Takes rows out of a dataset and writes what takes their place, all of it in one transaction. A row that is gone is
   * left alone, with all that was to replace it. @returns how many rows were replaced, and how many requests were new
   */
  replace(
    dataset: string,
    replacements: readonly RowReplacement[],
    columns: UnitOfWork['columns'],
  ): Promise<{ replaced: number; added: number }>;
  drop(dataset: string): Promise<void>;
}

/** Small JSON values of the run itself: fingerprint, state, increments, robots cache, ETags. */
export interface ValueStore {
  get<T>(key: string): Promise<T | null>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Pairs whose key starts with the prefix, in key order. */
  entries<T>(prefix: string): Promise<[string, T][]>;
}

/** What one worker has done of a shared run: requests handled, records written. */
export type WorkerShare = { id: string; requests: number; records: number };

/** How far a run is, and what its workers have done in the present spell: since a crawl has begun or continued it. */
export type RunProgress = { counts: QueueCounts; spell: { succeeded: number; failed: number; elapsedMs: number } };

/** All of one run. */
export interface RunStore {
  readonly queue: QueueStore;
  readonly datasets: DatasetStore;
  readonly values: ValueStore;
  /** What each worker has done, in the order they came; only where several may share a run. */
  workerShares?(): Promise<WorkerShare[]>;
  /** From counters; only where several may share a run. */
  progress?(): Promise<RunProgress>;
  /** Flushes and releases everything. Idempotent. */
  close(): Promise<void>;
}
