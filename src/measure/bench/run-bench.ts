import { performance } from 'node:perf_hooks';
import type { Clock } from '../../core/clock.ts';
import type { ResponseHeaders } from '../../core/headers.ts';
import type { HttpClient, HttpResponse } from '../../http/client.ts';
import { median, quantile, roundMs } from '../common/numbers.ts';
import { type MeasureTarget, requestTo } from '../common/send.ts';
import type { BenchComparison, BenchResult, BenchSetting } from './bench-report.ts';
import { runClosed, runOpen } from './load.ts';
import { percentilesOf, Tally } from './tally.ts';

export type BenchOptions = {
  target: MeasureTarget;
  clock: Clock;
  /** A client of its own for each setting; closed here. */
  openClient: (setting: BenchSetting) => HttpClient;
  signal: AbortSignal;
};

const BASE_SAMPLES = 10;
/** Two settings are measured in so many turns each, so that neither has the better moments. */
const ROUNDS = 5;

/** One setting under way. */
type Bench = {
  setting: BenchSetting;
  client: HttpClient;
  send: () => Promise<HttpResponse>;
  tally: Tally;
  baseLatencyMs: number | null;
  wallMs: number;
  busyMs: number;
  /** Of each round. */
  rounds: { requestsPerSecond: number; p50: number | null }[];
};

/** Runs one load: a look at the unloaded server, a warm-up, then the requests that count. */
export async function runBench(setting: BenchSetting, options: BenchOptions): Promise<BenchOutcome> {
  const outcome = await runInTurns([setting], options, 1);
  return { results: outcome.results, comparison: null, headers: outcome.headers };
}

/** Runs two loads in turns, ABBA, over connections of their own. */
export async function compareBenches(
  settings: readonly [BenchSetting, BenchSetting],
  options: BenchOptions,
): Promise<BenchOutcome> {
  const { results, headers, benches } = await runInTurns(settings, options, ROUNDS);
  return { results, headers, comparison: comparisonOf(benches) };
}

export type BenchOutcome = {
  results: BenchResult[];
  comparison: BenchComparison | null;
  /** Of one answer, null when there was none. */
  headers: ResponseHeaders | null;
};

async function runInTurns(
  settings: readonly BenchSetting[],
  options: BenchOptions,
  rounds: number,
): Promise<{ results: BenchResult[]; headers: ResponseHeaders | null; benches: Bench[] }> {
  const benches = settings.map((setting) => prepare(setting, options));
  let headers: ResponseHeaders | null = null;
  try {
    for (const bench of benches) headers = (await warmUp(bench, options)) ?? headers;
    for (let round = 0; round < rounds; round++) {
      const turn = round % 2 === 0 ? benches : benches.toReversed();
      for (const bench of turn) await measureRound(bench, shareOf(bench.setting.requests, round, rounds), options);
    }
    return { results: benches.map(resultOf), headers, benches };
  } finally {
    await Promise.all(benches.map(({ client }) => client.close()));
  }
}

function prepare(setting: BenchSetting, { target, openClient, signal }: BenchOptions): Bench {
  const client = openClient(setting);
  const request = requestTo({ ...target, http2: setting.http2 });
  const send = (): Promise<HttpResponse> => client.send(request, signal);
  return { setting, client, send, tally: new Tally(), baseLatencyMs: null, wallMs: 0, busyMs: 0, rounds: [] };
}

/** @returns the headers of an answer */
async function warmUp(bench: Bench, options: BenchOptions): Promise<ResponseHeaders | null> {
  const latencies: number[] = [];
  let headers: ResponseHeaders | null = null;
  const tally = new Tally();
  const send = async (): Promise<HttpResponse> => {
    const startedMs = options.clock.nowMs();
    const response = await bench.send();
    if (response.reusedConnection) latencies.push(options.clock.nowMs() - startedMs);
    headers = response.headers;
    return response;
  };
  const common = { clock: options.clock, tally, signal: options.signal };
  await runClosed({ ...common, send, count: BASE_SAMPLES, concurrency: 1 });
  bench.baseLatencyMs = roundMs(quantile(latencies, 0.1));
  await load(bench, { tally, count: bench.setting.warmup }, options);
  return headers;
}

async function measureRound(bench: Bench, count: number, options: BenchOptions): Promise<void> {
  const tally = new Tally();
  const before = performance.eventLoopUtilization();
  const startedMs = options.clock.nowMs();
  await load(bench, { tally, count }, options);
  const wallMs = options.clock.nowMs() - startedMs;
  bench.busyMs += performance.eventLoopUtilization(before).utilization * wallMs;
  bench.wallMs += wallMs;
  const answers = tally.answers;
  bench.rounds.push({ requestsPerSecond: (answers * 1_000) / wallMs, p50: tally.latency.percentile(0.5) });
  bench.tally.merge(tally);
}

function load(bench: Bench, { tally, count }: { tally: Tally; count: number }, options: BenchOptions): Promise<void> {
  const { rate, concurrency } = bench.setting;
  const common = { clock: options.clock, send: bench.send, count, tally, signal: options.signal };
  return rate === null ? runClosed({ ...common, concurrency }) : runOpen({ ...common, rate });
}

/** The requests of one of several rounds. */
function shareOf(requests: number, round: number, rounds: number): number {
  return Math.floor(((round + 1) * requests) / rounds) - Math.floor((round * requests) / rounds);
}

function resultOf({ setting, client, tally, baseLatencyMs, wallMs, busyMs }: Bench): BenchResult {
  const requestsPerSecond = wallMs > 0 ? (tally.answers * 1_000) / wallMs : 0;
  const theoreticalRps = theoreticalOf(setting, baseLatencyMs);
  return {
    setting,
    wallSecs: wallMs / 1_000,
    requestsPerSecond,
    latencyMs: percentilesOf(tally.latency),
    serviceMs: percentilesOf(tally.service),
    baseLatencyMs,
    theoreticalRps,
    achievedShare: theoreticalRps === null ? null : requestsPerSecond / theoreticalRps,
    connectionsOpened: client.stats().opened,
    httpVersion: tally.httpVersion,
    wireBytes: tally.wireBytes,
    bodyBytes: tally.bodyBytes,
    meanBodyBytes: tally.answers > 0 ? Math.round(tally.bodyBytes / tally.answers) : null,
    statusCodes: Object.fromEntries(tally.statuses),
    failures: Object.fromEntries(tally.failures),
    busyShare: wallMs > 0 ? busyMs / wallMs : 0,
  };
}

function theoreticalOf({ rate, concurrency }: BenchSetting, baseLatencyMs: number | null): number | null {
  if (rate !== null) return rate;
  return baseLatencyMs === null || baseLatencyMs <= 0 ? null : (concurrency * 1_000) / baseLatencyMs;
}

function comparisonOf(benches: readonly Bench[]): BenchComparison {
  const [first, second] = benches as [Bench, Bench];
  const ratios = first.rounds.map((round, index) => second.rounds[index]!.requestsPerSecond / round.requestsPerSecond);
  const p50Ratios = first.rounds.flatMap(({ p50 }, index) => {
    const other = second.rounds[index]!.p50;
    return p50 === null || other === null ? [] : [other / p50];
  });
  return {
    rounds: ratios.length,
    rateRatio: median(ratios) ?? 0,
    p50Ratio: median(p50Ratios),
    leastRatio: Math.min(...ratios),
    mostRatio: Math.max(...ratios),
  };
}
