import { hostSchema } from '../../../src/config/host-schema.ts';
import type { CrawlEvent } from '../../../src/core/events.ts';
import type { KeySnapshot } from '../../../src/core/key-snapshot.ts';
import { noTime, type Timings } from '../../../src/core/timings.ts';
import { type Diagnosis, diagnose } from '../../../src/measure/diagnosis/diagnose.ts';
import type { DiagnosedHostConfig } from '../../../src/measure/diagnosis/facts.ts';
import { type HostTick, SlotAccount } from '../../../src/measure/diagnosis/slot-account.ts';
import { createRecorder } from '../../../src/report/recorder.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

export const HOST = 'api.example.com';

/** A crawl of one host, as its recorder and its slots saw it. Times in ms. */
export type Scenario = {
  host?: string;
  durationMs?: number;
  attempts?: number;
  /** Of every attempt on a connection that was there already. */
  timings?: Partial<Timings>;
  /** Of those that opened one. */
  handshake?: Partial<Pick<Timings, 'dns' | 'connect' | 'tls'>>;
  /** Every so many-th attempt opens a connection; the first always does. */
  freshEvery?: number;
  /** Slower answers: every second attempt takes so many times as long to its first byte. */
  slowedBy?: number;
  /** Of the first three answers, before there was any load, to their first byte. */
  unloadedMs?: number;
  httpVersion?: '1.1' | '2';
  limited?: number;
  failed?: { status: number | null; failure: string | null; count: number; retries: number };
  config?: { [Key in keyof DiagnosedHostConfig]?: unknown };
  tick?: Partial<HostTick>;
  snapshot?: Partial<KeySnapshot>;
  busyShare?: number;
  connectionsWaiting?: number;
  isStoreBehind?: boolean;
  isAllDelayed?: boolean;
  maxConcurrency?: number;
  maxRequestsPerMinute?: number | null;
  durability?: 'normal' | 'full';
  events?: Omit<CrawlEvent, 'atMs' | 'host'>[];
};

/** @returns what the diagnosis of such a crawl is */
export async function diagnosisOf(scenario: Scenario): Promise<Diagnosis | null> {
  const clock = new FakeClock();
  const recorder = createRecorder({ ports: { clock }, run: 'test' });
  const slots = new SlotAccount();
  const config = hostSchema.parse(scenario.config ?? {}) as DiagnosedHostConfig;
  const { durationMs = 10_000, maxConcurrency = 100, maxRequestsPerMinute = null, durability = 'normal' } = scenario;
  record(scenario, recorder);
  const tick: HostTick = {
    host: scenario.host ?? HOST,
    pending: 10_000,
    inFlight: config.maxConcurrency,
    configuredConcurrency: config.maxConcurrency,
    concurrency: config.maxConcurrency,
    paceRps: null,
    limitSource: null,
    isParked: false,
    crawlDelayMs: 0,
    hasRetried: false,
    hasBeenLimited: (scenario.limited ?? 0) > 0,
    ...scenario.tick,
  };
  recorder.tick({ snapshots: [snapshotOf(tick, scenario)], maxConcurrency });
  for (let atMs = 0; atMs < durationMs; atMs += 250) {
    await clock.advance(250);
    recorder.tick({ snapshots: [snapshotOf(tick, scenario)], maxConcurrency });
    slots.tick({
      elapsedMs: 250,
      hosts: [tick],
      maxConcurrency,
      connectionsWaiting: scenario.connectionsWaiting ?? 0,
      isCappedPerMinute: maxRequestsPerMinute !== null,
      busyShare: scenario.busyShare ?? 0.2,
      isStoreBehind: scenario.isStoreBehind ?? false,
      isAllDelayed: scenario.isAllDelayed ?? false,
    });
  }
  return diagnose({
    recorder: recorder.toState(),
    slots: slots.toState(),
    maxConcurrency,
    maxRequestsPerMinute,
    durability,
    hostConfig: () => config,
  });
}

/** @returns the finding of that name */
export function finding(diagnosis: Diagnosis | null, bottleneck: string): Diagnosis[number] | undefined {
  return diagnosis?.find((entry) => entry.bottleneck === bottleneck);
}

/** @returns the names of those that give advice, the largest first */
export function advised(diagnosis: Diagnosis | null): string[] {
  return (diagnosis ?? []).filter(({ advice }) => advice !== '').map(({ bottleneck }) => bottleneck);
}

function record(scenario: Scenario, recorder: ReturnType<typeof createRecorder>): void {
  const { attempts = 1_000, limited = 0, failed, freshEvery = attempts, httpVersion = '1.1', slowedBy = 1 } = scenario;
  const host = scenario.host ?? HOST;
  const common = { host, failure: null, httpVersion, limited: false };
  for (let index = 0; index < attempts; index++) {
    const isFresh = index % freshEvery === 0;
    const timings = {
      ...noTime(),
      firstByte: 20,
      ...scenario.timings,
      ...(isFresh ? { connect: 0.2, ...scenario.handshake } : {}),
    };
    if (index % 2 === 1) timings.firstByte *= slowedBy;
    if (index < 3 && scenario.unloadedMs !== undefined) timings.firstByte = scenario.unloadedMs;
    recorder.attempt({ ...common, status: 200, timings, reused: !isFresh });
    recorder.handled({ host, result: 'succeeded', code: null, url: `https://${host}/${index}` });
  }
  for (let index = 0; index < limited; index++)
    recorder.attempt({ ...common, status: 429, timings: { ...noTime(), firstByte: 5 }, reused: true, limited: true });
  for (let index = 0; index < (failed?.count ?? 0); index++) {
    const { status = null, failure = null } = failed ?? {};
    recorder.attempt({
      ...common,
      status,
      failure,
      timings: { ...noTime(), firstByte: status ? 20 : 0 },
      reused: true,
    });
  }
  for (let index = 0; index < (failed?.retries ?? 0); index++) recorder.retried(host);
  for (const phase of ['parse', 'handler'] as const)
    recorder.time(host, phase, (scenario.timings?.[phase] ?? 0) * attempts);
  for (const event of scenario.events ?? []) recorder.event({ ...event, host, atMs: 0 });
}

function snapshotOf(tick: HostTick, { snapshot, limited = 0 }: Scenario): KeySnapshot {
  return {
    key: tick.host,
    host: tick.host,
    inFlight: tick.inFlight,
    concurrency: tick.concurrency,
    requestsPerSecond: tick.paceRps,
    limitRps: null,
    limitSource: tick.limitSource,
    parkedUntilMs: null,
    parkedReason: null,
    givenUp: null,
    rateLimited: limited,
    ...snapshot,
  };
}
