import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { Ports } from '../../src/core/ports.ts';
import type { ClaimOptions, LeasedRequest, NewRequest, RunStore, UnitOfWork } from '../../src/storage/store.ts';

export const ports: Ports = { clock: systemClock, random: Math.random, log: silentLog };

/** A folder on the disk that holds the working directory: /tmp may be memory. */
export function scratchFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(process.env.BENCH_DIR ?? process.cwd(), '.bench-storage-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export function requestOf(n: number, hosts = 1): NewRequest {
  const host = hosts === 1 ? 'api.example.com' : `api${n % hosts}.example.com`;
  const url = `https://${host}/v1/items/${n}?expand=all`;
  return { uniqueKey: url, url, host, method: 'GET', label: null, data: null };
}

const ADD_BATCH = 1_000;

export async function addRequests(
  store: RunStore,
  { count, hosts = 1, from = 0 }: { count: number; hosts?: number; from?: number },
): Promise<void> {
  for (let n = from; n < from + count; n += ADD_BATCH)
    await store.queue.add(
      Array.from({ length: Math.min(ADD_BATCH, from + count - n) }, (_, i) => requestOf(n + i, hosts)),
    );
}

/** One record of about 1 KB, different for each request. */
export function recordOf(url: string): string {
  return JSON.stringify({ url, name: 'An item', tags: ['a', 'b'], text: 'x'.repeat(900) });
}

export function unitOf({ lease, url }: LeasedRequest): UnitOfWork {
  return {
    lease,
    outcome: { kind: 'handled', result: 'succeeded', reason: null, patch: null },
    records: [{ dataset: 'default', json: recordOf(url) }],
    requests: [],
    values: [],
    columns: [],
  };
}

export function claimOptions(limit: number, perHost = limit): ClaimOptions {
  return { limit, perHost, skipHosts: new Set(), leaseMs: 60_000 };
}

/** Wall time, CPU of the main thread, and CPU of the whole process (checkpoint thread and garbage collector too). */
export type Cost = { count: number; wallMs: number; mainCpuMs: number; allCpuMs: number };

/** What `work` costs; it says how many it did. */
export async function measure(work: () => Promise<number>): Promise<Cost> {
  const main = process.threadCpuUsage();
  const all = process.cpuUsage();
  const startMs = performance.now();
  const count = await work();
  const wallMs = performance.now() - startMs;
  return { count, wallMs, mainCpuMs: totalMs(process.threadCpuUsage(main)), allCpuMs: totalMs(process.cpuUsage(all)) };
}

function totalMs({ user, system }: { user: number; system: number }): number {
  return (user + system) / 1_000;
}

/** Rates and CPU per item. */
export function costFigures(cost: Cost): { perSecond: number; mainCpuMicros: number; allCpuMicros: number } {
  return {
    perSecond: perSecond(cost),
    mainCpuMicros: round((cost.mainCpuMs * 1_000) / cost.count, 1),
    allCpuMicros: round((cost.allCpuMs * 1_000) / cost.count, 1),
  };
}

export function perSecond({ count, wallMs }: Cost): number {
  return Math.round(count / (wallMs / 1_000));
}

export function round(value: number, digits = 0): number {
  return Number(value.toFixed(digits));
}

export function quantiles(values: number[]): { p50: number; p99: number; p999: number; max: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!, 2);
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), max: round(sorted.at(-1)!, 2) };
}

export function rssMb(): number {
  return Math.round(process.memoryUsage().rss / 1e6);
}

export function fileMb(file: string): number {
  return Math.round(statSync(file).size / 1e6);
}

export type Machine = { date: string; node: string; cpu: string; cores: number; load: number; command: string };

export function machine(): Machine {
  const all = cpus();
  return {
    date: new Date().toISOString(),
    node: process.version,
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    load: round(loadavg()[0]!, 1),
    command:
      `node ${['bench/storage', process.argv[1]!.split('/').at(-1)].join('/')} ${process.argv.slice(2).join(' ')}`.trim(),
  };
}

/** One line of JSON: bench/storage/run.ts gathers them. */
export function report(figures: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify({ ...machine(), ...figures })}\n`);
}
