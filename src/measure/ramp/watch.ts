import { median, quantile } from '../common/numbers.ts';
import type { RampPoint } from './ramp-report.ts';

type Answer = { endedMs: number; latencyMs: number };

const BASE_SAMPLES = 15;
const RECENT_MS = 3_000;
const LEAST_RECENT = 12;
// A knee: nearly all answers of some seconds are twice as slow as the first, by more than timers and a busy machine explain.
const SLOW_FACTOR = 2;
const LEAST_SLOWER_MS = 20;
const NEARLY_ALL = 0.15;
const GOODPUT_MS = 2_000;

/** Looks at the answers of a ramp: how they come, and whether the server has begun to queue them. Times in ms. */
export class RampWatch {
  readonly #startedMs: number;
  readonly #answers: Answer[] = [];
  readonly #seconds = new Map<number, { sent: number; good: number; refused: number; latencies: number[] }>();

  constructor(startedMs: number) {
    this.#startedMs = startedMs;
  }

  sent(nowMs: number): void {
    this.#second(nowMs).sent += 1;
  }

  answered(answer: { sentMs: number; endedMs: number; isAccepted: boolean }): void {
    const { sentMs, endedMs, isAccepted } = answer;
    const second = this.#second(endedMs);
    if (!isAccepted) second.refused += 1;
    else {
      second.good += 1;
      second.latencies.push(endedMs - sentMs);
      this.#answers.push({ endedMs, latencyMs: endedMs - sentMs });
    }
  }

  /** Of the first answers, while hardly anything was asked; null before there are enough. */
  get baseLatencyMs(): number | null {
    if (this.#answers.length < BASE_SAMPLES) return null;
    return median(this.#answers.slice(0, BASE_SAMPLES).map(({ latencyMs }) => latencyMs));
  }

  /** @returns whether answers have become slow, and have been for some seconds */
  isSlow(nowMs: number): boolean {
    const base = this.baseLatencyMs;
    if (base === null) return false;
    const recent = this.#recent(nowMs, RECENT_MS);
    const looked = recent.length >= LEAST_RECENT ? recent : this.#answers.slice(-LEAST_RECENT);
    const least =
      quantile(
        looked.map(({ latencyMs }) => latencyMs),
        NEARLY_ALL,
      ) ?? 0;
    return least > base * SLOW_FACTOR + LEAST_SLOWER_MS;
  }

  /** Good answers a second, of late. */
  goodput(nowMs: number): number {
    return (this.#recent(nowMs, GOODPUT_MS).length * 1_000) / GOODPUT_MS;
  }

  points(): RampPoint[] {
    return [...this.#seconds]
      .sort(([a], [b]) => a - b)
      .map(([second, { sent, good, refused, latencies }]) => ({
        second,
        sent,
        good,
        refused,
        p50Ms: median(latencies),
      }));
  }

  #recent(nowMs: number, spanMs: number): Answer[] {
    const since = nowMs - spanMs;
    let from = this.#answers.length;
    while (from > 0 && (this.#answers[from - 1] as Answer).endedMs > since) from -= 1;
    return this.#answers.slice(from);
  }

  #second(atMs: number): { sent: number; good: number; refused: number; latencies: number[] } {
    const index = Math.floor((atMs - this.#startedMs) / 1_000);
    let second = this.#seconds.get(index);
    if (second === undefined) {
      second = { sent: 0, good: 0, refused: 0, latencies: [] };
      this.#seconds.set(index, second);
    }
    return second;
  }
}
