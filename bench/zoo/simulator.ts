import type { Sample } from '../../src/core/sample.ts';
import type { Governor } from '../../src/governor/governor.ts';
import { answerHeaders } from './answer.ts';
import { type Cell, makeLimiter } from './cells.ts';
import { FAULT } from './limiters.ts';

/** What paces a client: the governor, or something to compare it with. */
export type Strategy = Pick<Governor, 'tryAcquire' | 'finish'>;

export type SimulationOptions = {
  cell: Cell;
  durationMs: number;
  random: () => number;
  /** Makes the strategy, given the virtual clock. */
  strategy: (clock: { nowMs(): number; wallMs(): number }) => Strategy;
  /** Longest wait for an answer before the client gives it up, ms. */
  timeoutMs?: number;
};

/** Counted on the server's side; one entry of `accepted` and `refused` a second. */
export type SimulationResult = {
  accepted: number[];
  refused: number[];
  /** Each arrival at the server: ms, and whether it was accepted. */
  arrivals: { atMs: number; accepted: boolean }[];
  latenciesMs: number[];
  mostInFlight: number;
};

const KEY = 'sim.example';
const NETWORK_MS = 0.2;
const WALL_AT_START_MS = Date.UTC(2026, 0, 1);

/** A heap of things to happen, earliest first, in order of insertion at the same time. */
class Agenda {
  readonly #items: { atMs: number; order: number; run: () => void }[] = [];
  #order = 0;

  add(atMs: number, run: () => void): void {
    const items = this.#items;
    const item = { atMs, order: this.#order++, run };
    let index = items.push(item) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(item, items[parent]!)) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = item;
  }

  next(): { atMs: number; run: () => void } | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && isBefore(items[child + 1]!, items[child]!)) child += 1;
      if (!isBefore(items[child]!, last)) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = last;
    return first;
  }
}

function isBefore(a: { atMs: number; order: number }, b: { atMs: number; order: number }): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/** Runs a client with endless work against one limiter, on a virtual clock. Timers are up to 1 ms late, as Node's. */
export function simulate(options: SimulationOptions): SimulationResult {
  const { cell, durationMs, random } = options;
  const agenda = new Agenda();
  const limiter = makeLimiter(cell);
  const seconds = Math.ceil(durationMs / 1000);
  const accepted = new Array<number>(seconds).fill(0);
  const refused = new Array<number>(seconds).fill(0);
  const result: SimulationResult = { accepted, refused, arrivals: [], latenciesMs: [], mostInFlight: 0 };
  let nowMs = 0;
  let inFlight = 0;
  let sent = 0;
  let wakeAtMs = Number.POSITIVE_INFINITY;
  const clock = { nowMs: () => nowMs, wallMs: () => WALL_AT_START_MS + nowMs };
  const strategy = options.strategy(clock);

  // As on the zoo's real sockets: most of the latency is the server's, and refused requests are as slow.
  const servedInMs = (): number => cell.latencyMs * (1 + cell.jitter * (2 * random() - 1));

  const send = (): void => {
    const sentAtMs = nowMs;
    const hangs = cell.hangsEvery !== undefined && ++sent % cell.hangsEvery === 0;
    inFlight += 1;
    result.mostInFlight = Math.max(result.mostInFlight, inFlight);
    agenda.add(nowMs + NETWORK_MS, () => arrive(sentAtMs, hangs));
  };

  const arrive = (sentAtMs: number, hangs: boolean): void => {
    const fails = cell.faultShare !== undefined && random() < cell.faultShare;
    const decision = fails ? FAULT : limiter.arrive(nowMs);
    const counts = decision.accepted ? accepted : refused;
    const second = Math.floor(nowMs / 1000);
    if (second < seconds && !fails) counts[second] = (counts[second] ?? 0) + 1;
    result.arrivals.push({ atMs: nowMs, accepted: decision.accepted });
    const headers = answerHeaders(cell.headers, { limiter, decision, wallMs: clock.wallMs() });
    const status = fails ? 503 : decision.accepted ? 200 : cell.refusalStatus;
    const answeredAtMs = hangs ? sentAtMs + (options.timeoutMs ?? 30_000) : nowMs + decision.delayMs + servedInMs();
    if (decision.accepted) agenda.add(answeredAtMs, () => limiter.leave(nowMs));
    agenda.add(answeredAtMs, () => finish(sentAtMs, hangs ? null : status, headers));
  };

  const finish = (sentAtMs: number, status: number | null, headers: Sample['headers']): void => {
    inFlight -= 1;
    if (status === 200) result.latenciesMs.push(nowMs - sentAtMs);
    strategy.finish({
      key: KEY,
      origin: `https://${KEY}`,
      sentAtMs,
      endedAtMs: nowMs,
      status,
      failure: status === null ? 'timeout' : null,
      headers,
      wallMs: clock.wallMs(),
      bodyText: null,
      overloaded: false,
    });
    pump();
  };

  const pump = (): void => {
    for (;;) {
      const readyAtMs = strategy.tryAcquire(KEY, nowMs);
      if (readyAtMs > 0) {
        wakeAt(readyAtMs);
        return;
      }
      send();
    }
  };

  const wakeAt = (readyAtMs: number): void => {
    if (readyAtMs >= wakeAtMs || readyAtMs === Number.POSITIVE_INFINITY) return;
    wakeAtMs = readyAtMs;
    agenda.add(Math.max(readyAtMs, nowMs) + random(), () => {
      if (wakeAtMs !== readyAtMs) return;
      wakeAtMs = Number.POSITIVE_INFINITY;
      pump();
    });
  };

  for (const change of cell.changes ?? []) agenda.add(change.atMs, () => limiter.scale(change.share));
  if (cell.otherClientRps) {
    const everyMs = 1000 / cell.otherClientRps;
    const other = (): void => {
      if (limiter.arrive(nowMs).accepted) agenda.add(nowMs + cell.latencyMs, () => limiter.leave(nowMs));
      agenda.add(nowMs + everyMs * (0.5 + random()), other);
    };
    agenda.add(0, other);
  }
  agenda.add(0, pump);
  for (let item = agenda.next(); item !== undefined && item.atMs < durationMs; item = agenda.next()) {
    nowMs = item.atMs;
    item.run();
  }
  return result;
}

/** A seeded source of numbers in [0, 1) (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
