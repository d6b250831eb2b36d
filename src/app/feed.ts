import type { Readable } from 'node:stream';
import type { SourceSpec } from '../config/crawl-job.ts';
import type { Input } from '../config/input-schema.ts';
import { originOf } from '../crawl/request-builder.ts';
import type { HostAwareQueue } from '../queue/host-aware-request-manager.ts';
import { openSource } from '../queue/sources/open-source.ts';
import type { MalformedLine } from '../queue/sources/types.ts';
import type { NewRequest, ValueStore } from '../storage/store.ts';
import { type FeedState, saveFeed } from './run-meta.ts';

export type FeedOptions = {
  queue: HostAwareQueue;
  values: ValueStore;
  /** How far an earlier process of the run has read; changed as it goes on. */
  state: FeedState;
  /** Grows as start URLs are added. */
  origins: Set<string>;
  sources: readonly SourceSpec[];
  input: Input;
  stdin: Readable;
  onMalformed: (line: MalformedLine) => void;
  /** Called before requests of origins that are new are added. */
  onNewOrigins?: () => Promise<void>;
  signal: AbortSignal;
};

// A run's start URLs rarely have more; beyond it configured headers are sent to the first ones only.
const MOST_ORIGINS = 10_000;

/** Streams the URL sources of a run into its queue, going on where an earlier process left off. */
export async function feedSources(options: FeedOptions): Promise<void> {
  const { state, sources } = options;
  for (let index = state.source; index < sources.length; index++) {
    await feedSource(options, sources[index]!);
    state.source = index + 1;
    state.line = 0;
    await saveFeed(options.values, state);
  }
}

/** Adds the first requests of routes and APIs. */
export async function feedSeeds(options: FeedOptions, seeds: AsyncIterable<NewRequest>): Promise<void> {
  let batch: NewRequest[] = [];
  for await (const seed of seeds) {
    options.signal.throwIfAborted();
    batch.push(seed);
    if (batch.length < SEEDS_A_BATCH) continue;
    await addBatch(options, batch);
    batch = [];
  }
  await addBatch(options, batch);
}

const SEEDS_A_BATCH = 500;

async function feedSource(options: FeedOptions, spec: SourceSpec): Promise<void> {
  const { state, input, stdin, onMalformed, signal } = options;
  const defaults = { method: input.method, body: input.body };
  const source = openSource(spec, { defaults, stdin, onMalformed });
  for await (const batch of source.batches({ afterLine: state.line, signal })) {
    await addBatch(
      options,
      batch.items.map((item) => item.request),
    );
    state.lines += batch.lines;
    state.malformed += batch.malformed;
    state.line = batch.lastLine;
    await saveFeed(options.values, state);
  }
}

async function addBatch(options: FeedOptions, requests: readonly NewRequest[]): Promise<void> {
  if (requests.length === 0) return;
  const { queue, state, origins } = options;
  const knownOrigins = origins.size;
  for (const { url } of requests) if (origins.size < MOST_ORIGINS) origins.add(originOf(url));
  state.origins = [...origins];
  if (origins.size > knownOrigins) await options.onNewOrigins?.();
  const results = await queue.add(requests);
  state.duplicates += results.filter((result) => result.wasAlreadyPresent).length;
}
