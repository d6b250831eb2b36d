/** A thin dispatch loop: `node client.ts JSON` crawls numbered items for a while and sends its parent what became of them. */
import { Pool } from 'undici';
import type { Sample } from '../../src/core/sample.ts';
import type { Cell } from './cells.ts';
import { makeStrategy, type StrategyName } from './strategies.ts';

export type ClientJob = {
  cell: Cell;
  origin: string;
  strategy: StrategyName;
  trueRps: number;
  sendForMs: number;
  /** Answers that take longer are given up and tried again. */
  timeoutMs: number;
};

export type ClientReport = {
  sent: number;
  lost: number;
  latenciesMs: number[];
  events: { atMs: number; kind: string; reason: string; facts?: Record<string, unknown> }[];
  /** Sampled each 100 ms: pace and cap. */
  pace: { atMs: number; requestsPerSecond: number | null; concurrency: number }[];
};

type Snapshot = { requestsPerSecond: number | null; concurrency: number };

const TICK_MS = 10;
const OVERLOADED_LAG_MS = 25;
const DRAIN_FOR_MS = 60_000;

async function crawl(job: ClientJob): Promise<ClientReport> {
  const pool = new Pool(job.origin, {
    connections: 50,
    pipelining: 1,
    headersTimeout: job.timeoutMs,
    bodyTimeout: job.timeoutMs,
  });
  const key = new URL(job.origin).host;
  const startedAtMs = performance.now();
  const report: ClientReport = { sent: 0, lost: 0, latenciesMs: [], events: [], pace: [] };
  const clock = { nowMs: () => performance.now(), wallMs: () => Date.now() };
  const strategy = makeStrategy({
    name: job.strategy,
    clock,
    random: Math.random,
    trueRps: job.trueRps,
    onEvent: ({ kind, reason, facts }) =>
      report.events.push({ atMs: performance.now() - startedAtMs, kind, reason, ...(facts ? { facts } : {}) }),
  });
  const again: number[] = [];
  const open = new Set<number>();
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  let done: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });

  const send = async (item: number): Promise<void> => {
    const sentAtMs = performance.now();
    report.sent += 1;
    const sample: Sample = {
      key,
      origin: job.origin,
      sentAtMs,
      endedAtMs: 0,
      status: null,
      failure: null,
      headers: {},
      wallMs: 0,
      bodyText: null,
      overloaded: false,
    };
    try {
      const response = await pool.request({ path: `/items/${item}`, method: 'GET' });
      const text = await response.body.text();
      sample.status = response.statusCode;
      sample.headers = response.headers;
      if (response.statusCode !== 200) sample.bodyText = text;
    } catch {
      sample.failure = 'timeout'; // the only failure these servers make
    }
    sample.endedAtMs = performance.now();
    sample.overloaded = overloadedAtMs >= sentAtMs;
    sample.wallMs = Date.now();
    strategy.finish(sample);
    if (sample.status === 200) {
      open.delete(item);
      report.latenciesMs.push(sample.endedAtMs - sentAtMs);
    } else again.push(item);
    pump();
  };

  const pump = (): void => {
    clearTimeout(timer);
    for (;;) {
      const nowMs = performance.now();
      const isOver = nowMs - startedAtMs >= job.sendForMs;
      if (isOver && open.size === 0) done();
      if (isOver && again.length === 0) return;
      const readyAtMs = strategy.tryAcquire(key, nowMs);
      if (readyAtMs > 0) {
        if (Number.isFinite(readyAtMs)) timer = setTimeout(pump, Math.max(0, readyAtMs - nowMs));
        return;
      }
      const item = again.shift() ?? next++;
      open.add(item);
      void send(item);
    }
  };

  // As the product does: answers that came while our own process was late say nothing of the server's latency.
  let tickedAtMs = performance.now();
  let overloadedAtMs = Number.NEGATIVE_INFINITY;
  const lagWatcher = setInterval(() => {
    const nowMs = performance.now();
    if (nowMs - tickedAtMs > TICK_MS + OVERLOADED_LAG_MS) overloadedAtMs = nowMs;
    tickedAtMs = nowMs;
  }, TICK_MS);
  const watcher = setInterval(() => {
    const snapshot =
      'snapshot' in strategy
        ? (strategy as { snapshot(nowMs: number): Snapshot[] }).snapshot(performance.now())[0]
        : null;
    if (snapshot)
      report.pace.push({
        atMs: performance.now() - startedAtMs,
        requestsPerSecond: snapshot.requestsPerSecond,
        concurrency: snapshot.concurrency,
      });
  }, 100);
  const giveUp = setTimeout(() => done(), job.sendForMs + DRAIN_FOR_MS);
  pump();
  const ender = setTimeout(pump, job.sendForMs + 1);
  await finished;
  for (const one of [timer, giveUp, ender]) clearTimeout(one);
  clearInterval(watcher);
  clearInterval(lagWatcher);
  report.lost = open.size;
  await pool.destroy();
  return report;
}

const job = JSON.parse(process.argv[2] ?? '{}') as ClientJob;
process.send?.(await crawl(job));
