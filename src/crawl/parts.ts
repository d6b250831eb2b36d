import type { HostConfig } from '../config/host-schema.ts';
import type { Ports } from '../core/ports.ts';
import type { Sample, Verdict } from '../core/sample.ts';
import type { HttpClient } from '../http/client.ts';
import type { HostAwareQueue } from '../queue/host-aware-request-manager.ts';
import type { Recorder } from '../report/recorder.ts';
import type { RouteRegistry } from '../routes/registry.ts';
import type { SessionPools } from '../sessions/session-pools.ts';
import type { RunStore } from '../storage/store.ts';
import type { DatasetColumns } from './dataset-columns.ts';
import type { KeptResponses } from './kept-responses.ts';

/** The governor, as far as one request is concerned. Monotonic ms. */
export interface SendGate {
  /** Asks for one send to the host now: the granted key, or when to ask again (Infinity = when a request has ended). */
  tryAcquire(host: string, nowMs: number): string | number;
  /** An attempt ended: frees its place and learns from it. */
  finish(sample: Sample): Verdict;
  /** A grant was not used. */
  cancel(key: string, nowMs: number): void;
  givenUp(host: string, nowMs: number): string | null;
  /** How long the server told us to wait with the key, ms from now; null when it did not. */
  parkedForMs?(key: string, nowMs: number): number | null;
}

/** What a crawl is made of; app.ts puts it together. */
export type CrawlParts = {
  ports: Ports;
  store: RunStore;
  queue: HostAwareQueue;
  gate: SendGate;
  sessions: SessionPools;
  recorder: Recorder;
  columns: DatasetColumns;
  routes: RouteRegistry;
  /** The client a host is to be fetched with. */
  clientFor: (host: string) => HttpClient;
  hostConfig: (host: string) => HostConfig;
  settings: CrawlSettings;
  /** What may be asked to be confirmed instead of sent again; null or left out = every request is sent plainly. */
  kept?: KeptResponses | null;
  /** Takes secrets out of what is stored or shown. */
  conceal: (text: string) => string;
};

/** What of the input document the crawl itself goes by. */
export type CrawlSettings = {
  maxConcurrency: number;
  maxBodyBytes: number;
  /** null = the client's own: a browser's, of got-scraping. */
  userAgentFor: (host: string) => string | null;
  /** Sent to the origins listed, and nowhere else. */
  originHeaders: { origins: ReadonlySet<string>; headers: Readonly<Record<string, string>> };
  /** Whether a follow-up request found on one host may go to another. */
  mayFollow: (fromHost: string, toHost: string) => boolean;
  /** Dataset of records that name none. */
  defaultDataset: string;
};
