/** What the platform tells an Actor. */
export type PlatformEvent = 'migrating' | 'aborting' | 'persistState';

/** The part of Apify's platform that an Actor run of ours uses. Every call is tried again after 429 and 5xx. */
export interface Platform {
  readonly defaultDatasetId: string;
  /** The run's default key-value store. */
  readonly records: PlatformRecords;
  /** The run's default request queue. */
  readonly queue: PlatformQueue;
  /** @returns the input, parsed, secrets decrypted; null when there is none */
  input(): Promise<unknown>;
  on(event: PlatformEvent, listener: () => void): void;
  /** Makes a dataset without a name: it is kept as long as the run's default one. @returns its id */
  createDataset(): Promise<string>;
  /** @returns how many items it has; the platform may be some seconds behind */
  itemCount(datasetId: string): Promise<number>;
  /** Appends the items of a JSON array. */
  push(datasetId: string, jsonArray: string): Promise<void>;
  setStatus(message: string, options?: { isTerminal?: boolean; isError?: boolean }): Promise<void>;
  /** Asks for the run to go on in another container. This process is ended some time after. */
  reboot(): Promise<void>;
  /** Closes what was opened. */
  close(): Promise<void>;
}

export type PlatformRecords = {
  get(key: string): Promise<Buffer | null>;
  set(key: string, value: string | Buffer, contentType: string): Promise<void>;
  delete(key: string): Promise<void>;
};

/** A request of the platform's queue, as far as it is of use here. */
export type QueuedRequest = {
  uniqueKey: string;
  url: string;
  method: string;
  /** ISO 8601; null = not handled. */
  handledAt: string | null;
  userData: Record<string, unknown>;
};

export type PlatformQueue = {
  /** Adds those whose unique key is new, 25 a call. @returns how many were not taken, though tried again */
  add(requests: readonly QueuedRequest[], options: { forefront: boolean }): Promise<{ unprocessed: number }>;
  /** One call: the platform has none for several. */
  update(request: QueuedRequest): Promise<void>;
  /** All requests, handled or not. */
  list(): AsyncIterable<QueuedRequest>;
};
