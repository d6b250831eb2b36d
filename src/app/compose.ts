import { Configuration, log as crawleeLog, LogLevel } from '@crawlee/core';
import type { Input } from '../config/input-schema.ts';
import type { EventSink } from '../core/events.ts';
import type { Log } from '../core/log.ts';
import type { Ports } from '../core/ports.ts';
import { SECOND_MS } from '../core/units.ts';
import { DatasetColumns } from '../crawl/dataset-columns.ts';
import { JsonCrawler, type JsonCrawlerOptions, type JsonCrawlerParts } from '../crawl/json-crawler.ts';
import type { KeptResponses } from '../crawl/kept-responses.ts';
import type { CrawlSettings } from '../crawl/parts.ts';
import { PendingWork } from '../crawl/pending-work.ts';
import { addFailedRow, type PlainList } from '../crawl/plain-list.ts';
import { createGovernor } from '../governor/create-governor.ts';
import type { FollowingGovernor, Governor } from '../governor/governor.ts';
import type { RobotsPolicy } from '../governor/robots/robots-policy.ts';
import { SharedGovernor, type SharedGovernorOptions } from '../governor/shared/shared-governor.ts';
import type { HttpClient } from '../http/client.ts';
import { SlotAccount, type SlotAccountState } from '../measure/diagnosis/slot-account.ts';
import { HostAwareQueue } from '../queue/host-aware-request-manager.ts';
import { createRecorder, type Recorder, type RecorderState } from '../report/recorder.ts';
import type { RouteRegistry } from '../routes/registry.ts';
import { createSessionPools, type SessionPools } from '../sessions/session-pools.ts';
import type { RunStore } from '../storage/store.ts';
import { followRule } from './follow-rule.ts';
import { HeldUp } from './held-up.ts';
import { hostConfigs } from './host-configs.ts';
import { createHttpClients } from './http-clients.ts';
import { LimitSync } from './limit-sync.ts';
import { createRobots } from './robots.ts';
import { HostGate } from './send-gate.ts';
import type { SharedSeat } from './shared-seat.ts';
import { createSideFetch, type SideFetch } from './side-fetch.ts';
import { sideProxies } from './side-proxies.ts';
import { userAgentOf } from './user-agent.ts';

/** A crawl put together, ready to be fed and run. */
export type Composition = {
  crawler: JsonCrawler;
  queue: HostAwareQueue;
  governor: Governor;
  recorder: Recorder;
  sessions: SessionPools;
  client: HttpClient;
  sideFetch: SideFetch;
  /** What every slot was doing, for the diagnosis. */
  slots: SlotAccount;
  /** When our own store kept the crawl waiting. */
  heldUp: HeldUp;
  /** What the host's robots.txt asks for between two requests, ms; 0 = nothing. */
  crawlDelayMs: (host: string) => number;
  /** Why nothing is sent to the host before its robots.txt is known; null when it is. */
  missingRobots: RobotsPolicy['missing'];
  /** Ends what was opened here; the store is the caller's. */
  close(): Promise<void>;
};

export type CompositionOptions = {
  input: Input;
  run: string;
  store: RunStore;
  routes: RouteRegistry;
  plain: PlainList | null;
  /** Works beside the run's own process, which alone keeps the record. */
  isJoiner: boolean;
  /** The place at a run that several workers share; null or left out = the run is this machine's. */
  seat?: SharedSeat | null;
  ports: Ports;
  /** Where `headers` are sent to; may grow while sources are read. */
  origins: ReadonlySet<string>;
  /** --refresh: what the run before has kept. */
  kept?: KeptResponses | null;
  reveal: (text: string) => string;
  conceal: (text: string) => string;
  /** Aborted when requests in flight must end now. */
  signal: AbortSignal;
  /** Called once a second. */
  onTick: () => void;
  crawlerOptions?: JsonCrawlerOptions;
  /** Crawlee's configuration; left out = one of the crawl's own that persists nothing. */
  config?: Configuration;
} & Pick<JsonCrawlerParts, 'onStartUrls' | 'onRun'>;

/** Where the recorder's state is kept in a run's values. */
export const RECORDER_KEY = 'recorder';
/** The same for what the slots were doing. */
export const SLOTS_KEY = 'slots';
// Renewed at a third of it: a process that is killed frees its requests after a minute, where nobody else frees them.
const LEASE_MS = 60_000;
// Of a shared run: what a worker had that was killed waits for so long, as nobody else may free it.
const SHARED_LEASE_MS = 15_000;
const SHARED_RECHECK_MS = 400;

/** Puts the parts of a crawl together. */
export async function compose(options: CompositionOptions): Promise<Composition> {
  const { input, store, ports, signal } = options;
  const hostConfig = hostConfigs(input.hosts);
  const recorder = createRecorder({
    ports,
    run: options.run,
    state: options.isJoiner ? null : await store.values.get<RecorderState>(RECORDER_KEY),
  });
  const slots = new SlotAccount(options.isJoiner ? null : await store.values.get<SlotAccountState>(SLOTS_KEY));
  const onEvent = eventSink(recorder, ports.log);
  const client = await createHttpClients({ input, hostConfig, ports, onEvent });
  const { clock, random } = ports;
  const { maxRequestsPerMinute } = input;
  const { governor, limits } = governorOf(options, {
    own: createGovernor({ policyOf: hostConfig, clock, random, onEvent, maxRequestsPerMinute }),
    policyOf: hostConfig,
    crawlDelayMs: (host) => crawlDelayMs(host),
  });
  const sessions = createSessionPools({
    hostConfig,
    ports,
    reveal: options.reveal,
    values: store.values,
    onEvent,
    remainingOf: (key) => governor.appetite(key, clock.nowMs(), SECOND_MS),
  });
  await sessions.restore();
  const sideFetch = createSideFetch({
    gate: () => gate,
    client,
    hostConfig,
    proxyFor: sideProxies(hostConfig, options.reveal),
    clock,
  });
  const robots = createRobots({
    productToken: input.productToken,
    userAgent: userAgentOf(input),
    maxBodyBytes: input.maxBodyBytes,
    hostConfig,
    governor,
    fetch: sideFetch,
    values: store.values,
    clock,
    onEvent: (event) => {
      onEvent(event);
      gate.forgetDelay(event.host);
    },
  });
  const crawlDelayMs = (host: string): number =>
    Math.max(robots.crawlDelayMs(`https://${host}`), robots.crawlDelayMs(`http://${host}`));
  const heldUp = new HeldUp();
  const gate: HostGate = new HostGate({
    governor,
    keysOf: (host, sessionId) => sessions.keysOf(host, sessionId),
    keysReadyAtMs: (host, sessionId) => sessions.readyAtMs(host, sessionId),
    givenUpElsewhere: (host) => sessions.givenUp(host) ?? robots.givenUp(host),
    crawlDelayMs,
    onReleased: (host) => queue.released(host),
    wasHeldUp: (endedAtMs) => heldUp.mattersAt(endedAtMs),
  });
  const columns = await DatasetColumns.load(store.datasets);
  let crawler: JsonCrawler | null = null;
  const onFatal = (error: unknown): void => crawler?.fail(error);
  const queue: HostAwareQueue = new HostAwareQueue({
    store: store.queue,
    gate,
    robots,
    clock,
    maxConcurrency: input.maxConcurrency,
    ...(options.seat ? { leaseMs: SHARED_LEASE_MS, satedRecheckMs: SHARED_RECHECK_MS } : { leaseMs: LEASE_MS }),
    rowsOfSkipped: (request, reason) => {
      const work = new PendingWork(columns);
      if (options.plain !== null && request.label === null)
        addFailedRow(options.plain, { url: request.url, status: null, error: reason }, work);
      return work.rows;
    },
    onSkipped: (request, reason) => {
      recorder.handled({ host: request.host, result: 'skipped', code: reason, url: request.url });
      crawler?.skipped(request.url);
    },
    onGivenUp: (host, reason) => ports.log.warn(`${host} was given up: ${reason}`),
    onFatal,
  });
  const parts = {
    ports,
    store,
    queue,
    gate,
    sessions,
    recorder,
    columns,
    routes: options.routes,
    clientFor: client.clientFor,
    hostConfig,
    settings: settingsOf(options, client.isBrowserLike),
    plain: options.plain,
    kept: options.kept ?? null,
    conceal: options.conceal,
    httpClient: client,
    signal,
    onTick: options.onTick,
    onStartUrls: options.onStartUrls,
    onRun: options.onRun,
  };
  limits?.start(onFatal);
  const config = options.config ?? crawleeConfig();
  // That of a shared run counts what all its workers do: its store keeps to it.
  const maxRequestsPerCrawl = options.seat ? undefined : (input.maxRequestsPerCrawl ?? undefined);
  crawler = new JsonCrawler(parts, { log: quietCrawleeLog(), maxRequestsPerCrawl, ...options.crawlerOptions }, config);
  return {
    crawler,
    queue,
    governor,
    recorder,
    sessions,
    client,
    sideFetch,
    slots,
    heldUp,
    crawlDelayMs,
    missingRobots: (host) => robots.missing(host),
    close: async () => {
      recorder.end();
      robots.close();
      await limits?.stop();
      try {
        await queue.close();
        await sessions.persist();
        if (options.isJoiner) return;
        await store.values.set(RECORDER_KEY, recorder.toState());
        await store.values.set(SLOTS_KEY, slots.toState());
      } finally {
        await client.close();
      }
    },
  };
}

/** The workers of a shared run share each budget; a run of this machine has it to itself. */
function governorOf(
  { seat, input, ports }: CompositionOptions,
  facts: { own: FollowingGovernor } & Pick<SharedGovernorOptions, 'policyOf' | 'crawlDelayMs'>,
): { governor: Governor; limits: LimitSync | null } {
  const { own: inner, policyOf, crawlDelayMs } = facts;
  if (!seat) return { governor: inner, limits: null };
  const { limits: exchange } = seat.store;
  const { workerId } = exchange;
  const { maxRequestsPerMinute } = input;
  const wallMs = (): number => ports.clock.wallMs();
  const governor = new SharedGovernor({ inner, workerId, policyOf, crawlDelayMs, maxRequestsPerMinute, wallMs });
  return { governor, limits: new LimitSync({ governor, exchange, ports }) };
}

function settingsOf(
  { input, origins, reveal }: CompositionOptions,
  isBrowserLike: (host: string) => boolean,
): CrawlSettings {
  const userAgent = userAgentOf(input);
  const headers = Object.entries(input.headers).map(([name, value]) => [name.toLowerCase(), reveal(value)] as const);
  return {
    maxConcurrency: input.maxConcurrency,
    maxBodyBytes: input.maxBodyBytes,
    userAgentFor: (host) => (isBrowserLike(host) ? input.userAgent : userAgent),
    originHeaders: { origins, headers: Object.fromEntries(headers) },
    mayFollow: followRule(input.followHosts),
    defaultDataset: input.dataset,
  };
}

function eventSink(recorder: Recorder, log: Log): EventSink {
  return (event) => {
    recorder.event(event);
    const { host, reason } = event;
    log.debug(reason.includes(host) ? reason : `${host}: ${reason}`, { event: event.kind, ...event.facts });
  };
}

/** Crawlee's own lines would say everything twice; its warnings and errors stay. */
function quietCrawleeLog() {
  return crawleeLog.child({ prefix: 'crawlee', level: LogLevel.WARNING });
}

/**
 * Each crawl has a configuration of its own, so that several may run in one process; nothing is persisted by it. Crawlee
 * would start `ps` every second to measure the memory; here the crawl's own guard does that.
 */
function crawleeConfig(): Configuration {
  return new Configuration({ persistStorage: false, purgeOnStart: false, systemInfoIntervalMillis: NEVER_MS });
}

const NEVER_MS = 2 ** 31 - 1;
