/** Something that changed how the crawl goes, with its reason: for the log, the live page and the report's timeline. */
export type CrawlEvent = {
  /** Epoch ms. */
  atMs: number;
  kind:
    | 'limit-changed'
    | 'parked'
    | 'resumed'
    | 'given-up'
    | 'circuit-opened'
    | 'circuit-closed'
    | 'robots'
    | 'http-version'
    | 'session'
    | 'proxy'
    | 'overload'
    | 'stopping';
  host: string;
  /** A plain sentence: what was decided and why. */
  reason: string;
  /** Figures that go with it, for example `{ requestsPerSecond: 80, concurrency: 12 }`. */
  facts?: Record<string, number | string | boolean | null>;
};

/** Where events go. Must not throw. */
export type EventSink = (event: CrawlEvent) => void;
