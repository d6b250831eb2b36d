import type { Clock } from '../core/clock.ts';
import type { Sample, Verdict } from '../core/sample.ts';
import type { SendGate } from '../crawl/parts.ts';
import type { Governor } from '../governor/governor.ts';
import type { Gate } from '../queue/ports.ts';

export type GateFacts = {
  governor: Governor;
  /** Keys a request to the host may be sent with, the best first; with a session, that one's alone while it exists. */
  keysOf: (host: string, sessionId?: string) => readonly string[];
  /** When `keysOf` will have one again, while it has none. */
  keysReadyAtMs: (host: string, sessionId?: string) => number;
  /** Why its robots.txt or its proxies have the host given up; null while they have not. */
  givenUpElsewhere: (host: string) => string | null;
  /** What the host's robots.txt asks for between two requests, ms; 0 = nothing. */
  crawlDelayMs: (host: string) => number;
  /** A request that is not of the queue has ended: whoever waited for its place may go. */
  onReleased: (host: string) => void;
  /** Whether our own store kept the crawl waiting shortly before this monotonic time; left out = it never does. */
  wasHeldUp?: (endedAtMs: number) => boolean;
};

const DELAY_KEPT_MS = 1_000;
const MOST_DELAYS_KEPT = 10_000;

/**
 * The governor's keys, as a host: the first key with room takes the request. A Crawl-delay holds for the host whatever
 * the key.
 */
export class HostGate implements Gate, SendGate {
  readonly #facts: GateFacts;
  readonly #lastSentMs = new Map<string, number>();
  readonly #delays = new Map<string, { delayMs: number; untilMs: number }>();

  constructor(facts: GateFacts) {
    this.#facts = facts;
  }

  tryAcquire(host: string, nowMs: number, sessionId: string | null = null): string | number {
    const { governor } = this.#facts;
    const delayMs = this.#crawlDelayMs(host, nowMs);
    if (delayMs > 0) {
      const allowedAtMs = (this.#lastSentMs.get(host) ?? Number.NEGATIVE_INFINITY) + delayMs;
      if (nowMs < allowedAtMs) return allowedAtMs;
    }
    const bound = sessionId === null || this.#isLost(host, sessionId, nowMs) ? undefined : sessionId;
    const keys = this.#facts.keysOf(host, bound);
    // Every proxy or credential rests: nobody's end would tell when to ask again.
    if (keys.length === 0) return Math.max(nowMs + 1, this.#facts.keysReadyAtMs(host, bound));
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const key of keys) {
      const atMs = governor.tryAcquire(key, nowMs);
      if (atMs === 0) {
        if (delayMs > 0) this.#lastSentMs.set(host, nowMs);
        return key;
      }
      if (atMs < earliestMs) earliestMs = atMs;
    }
    return earliestMs;
  }

  /** Its key makes no progress, and another one does: better sent by somebody else than never. */
  #isLost(host: string, sessionId: string, nowMs: number): boolean {
    const { governor, keysOf } = this.#facts;
    const keys = keysOf(host, sessionId);
    return keys.length > 0 && keys.every((key) => governor.givenUp(key, nowMs) !== null);
  }

  /** Its robots.txt has been read: what it asks for counts from now on. */
  forgetDelay(host: string): void {
    this.#delays.delete(host);
  }

  /** Looked up once a second, not for every request. */
  #crawlDelayMs(host: string, nowMs: number): number {
    const known = this.#delays.get(host);
    if (known !== undefined && nowMs < known.untilMs) return known.delayMs;
    const delayMs = this.#facts.crawlDelayMs(host);
    if (this.#delays.size >= MOST_DELAYS_KEPT) this.#delays.clear();
    this.#delays.set(host, { delayMs, untilMs: nowMs + DELAY_KEPT_MS });
    return delayMs;
  }

  finish(sample: Sample): Verdict {
    const { governor, wasHeldUp } = this.#facts;
    return governor.finish(wasHeldUp?.(sample.endedAtMs) ? { ...sample, overloaded: true } : sample);
  }

  /** For requests outside of the queue. */
  released(host: string): void {
    this.#facts.onReleased(host);
  }

  cancel(key: string, nowMs: number): void {
    this.#facts.governor.cancel(key, nowMs);
  }

  /** A host is given up when all of its keys are. */
  givenUp(host: string, nowMs: number): string | null {
    const { governor, keysOf, givenUpElsewhere } = this.#facts;
    let reason = givenUpElsewhere(host);
    if (reason !== null) return reason;
    for (const key of keysOf(host)) {
      reason = governor.givenUp(key, nowMs);
      if (reason === null) return null;
    }
    return reason;
  }

  appetite(host: string, nowMs: number, horizonMs: number): number {
    let sum = 0;
    for (const key of this.#facts.keysOf(host)) sum += this.#facts.governor.appetite(key, nowMs, horizonMs);
    return sum;
  }
}

/** Waits until a host may be sent to. For requests outside of the queue: robots.txt, tokens. */
export async function awaitGrant(
  gate: Gate,
  host: string,
  wait: { clock: Clock; signal?: AbortSignal },
): Promise<string> {
  for (;;) {
    const nowMs = wait.clock.nowMs();
    const answer = gate.tryAcquire(host, nowMs);
    if (typeof answer === 'string') return answer;
    await wait.clock.sleep(Math.min(Math.max(answer - nowMs, 1), LONGEST_POLL_MS), wait.signal);
  }
}

const LONGEST_POLL_MS = 250;
