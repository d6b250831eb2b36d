import { SECOND_MS } from '../../core/units.ts';
import { Pacer } from '../pacer.ts';

/** Sends are counted over so many reports: about a second. */
const REPORTS_COUNTED = 4;
const ACTIVE_MS = 2_000;
/** "As much as there is": a worker that was held back could send more than it did. */
export const WANTS_ALL_RPS = 1e9;
const WANT_GROWTH = 1.25;
// Lateness that a share's pacer makes up for, so that a busy event loop loses nothing, is part of its budget.
const LEAST_CREDIT = 0.03;
const MOST_CREDIT = 0.15;
const CREDIT_DECAY = 0.95;
const CREDIT_FROM_RPS = 20;

/** One key's part in this worker: what it may send, and what it did. */
export class SharedKey {
  readonly key: string;
  readonly pacer = new Pacer(0, 0);
  /** The part of a second by which sends may be late and are still made up for. */
  #credit = LEAST_CREDIT;
  inFlight = 0;
  /** How many workers send to it, this one included, as far as known. */
  workers = 1;
  /** null = nobody knows of a limit. */
  grantedRps: number | null = null;
  grantedUntilMs = Number.NEGATIVE_INFINITY;
  parkedUntilMs = Number.NEGATIVE_INFINITY;
  /** The law it goes by at present is another worker's. */
  follows = false;
  /** When a refusal was last taken for an event, here or elsewhere. */
  refusedAtMs = Number.NEGATIVE_INFINITY;
  /** It waits, and then for the answer to a lone request: who goes by its law waits too. */
  isWaiting = false;
  waitingSinceMs = Number.NEGATIVE_INFINITY;
  /** Refusals told to others. */
  reportedRefusals = 0;
  #wasHeld = false;
  #isAwaited = false;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #recent: { sent: number; ms: number }[] = [];
  #reportedAtMs: number;

  constructor(key: string, nowMs: number) {
    this.key = key;
    this.#reportedAtMs = nowMs;
  }

  asked(nowMs: number): void {
    this.#askedAtMs = nowMs;
  }

  held(): void {
    this.#wasHeld = true;
  }

  sent(nowMs: number): void {
    this.inFlight += 1;
    this.#sent += 1;
    if (this.grantedRps === null) return;
    if (this.#isAwaited)
      this.#credit = Math.max(this.#credit, Math.min((nowMs - this.pacer.readyAtMs) / SECOND_MS, MOST_CREDIT));
    this.#isAwaited = false;
    this.pacer.take(nowMs);
  }

  isActive(nowMs: number): boolean {
    return this.inFlight > 0 || nowMs - this.#askedAtMs < ACTIVE_MS;
  }

  /** Ends the time counted. @returns what it sent and wants, requests/s */
  report(nowMs: number): { sentRps: number; wantedRps: number } {
    this.#recent.push({ sent: this.#sent, ms: nowMs - this.#reportedAtMs });
    if (this.#recent.length > REPORTS_COUNTED) this.#recent.shift();
    const sent = this.#recent.reduce((sum, part) => sum + part.sent, 0);
    const ms = this.#recent.reduce((sum, part) => sum + part.ms, 0);
    const sentRps = ms > 0 ? (sent * 1000) / ms : 0;
    const wantedRps = this.#wasHeld ? WANTS_ALL_RPS : WANT_GROWTH * sentRps + 1;
    this.#sent = 0;
    this.#wasHeld = false;
    this.#reportedAtMs = nowMs;
    return { sentRps, wantedRps };
  }

  grant(rps: number | null, untilMs: number): void {
    this.grantedRps = rps;
    this.grantedUntilMs = untilMs;
    if (rps === null || rps <= 0) return;
    this.#credit = Math.max(LEAST_CREDIT, this.#credit * CREDIT_DECAY);
    const credit = rps < CREDIT_FROM_RPS ? 0 : this.#credit;
    this.pacer.setCredit(credit * SECOND_MS);
    const intervalMs = (SECOND_MS / rps) * (1 + credit);
    if (intervalMs !== this.pacer.intervalMs) this.pacer.setInterval(intervalMs);
  }

  /** @returns 0 when its share allows a send now, else when to ask again; > nowMs */
  readyAtMs(nowMs: number, askAgainMs: number): number {
    if (nowMs < this.parkedUntilMs) return this.parkedUntilMs;
    if (this.grantedRps === null) return 0;
    if (this.grantedRps <= 0 || nowMs >= this.grantedUntilMs) return nowMs + askAgainMs;
    const atMs = this.pacer.askAt(nowMs);
    if (atMs > nowMs) this.#isAwaited = true;
    return atMs;
  }
}
