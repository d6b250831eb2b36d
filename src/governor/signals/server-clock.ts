import { parseHttpDate } from './http-date.ts';

// A Date header has whole seconds: the true time lies up to one later.
const DATE_RESOLUTION_MS = 1_000;

/**
 * The server's clock, learned from its Date headers: told times are compared with it, not with ours, which may be wrong.
 * The greatest difference seen is the best, for a Date is truncated and takes time to arrive; it never runs ahead of the
 * server, so nobody is sent back early.
 */
export class ServerClock {
  #offsetMs = Number.NEGATIVE_INFINITY;
  #dateText: string | undefined;
  #dateMs: number | undefined;

  /**
   * @param dateText the response's Date header
   * @param endedAtMs when the response came, monotonic
   * @param wallMs the same on our clock, used only while the server never told the time
   * @returns Unix epoch ms on the server's clock at `endedAtMs`
   */
  read(dateText: string | undefined, { endedAtMs, wallMs }: { endedAtMs: number; wallMs: number }): number {
    const dateMs = this.#parse(dateText);
    if (dateMs === undefined) return Number.isFinite(this.#offsetMs) ? endedAtMs + this.#offsetMs : wallMs;
    this.#offsetMs = Math.max(this.#offsetMs, dateMs - endedAtMs);
    // Machines behind one name may disagree: this one's own word bounds the estimate.
    return Math.min(endedAtMs + this.#offsetMs, dateMs + DATE_RESOLUTION_MS);
  }

  /** Many answers a second carry the same Date. */
  #parse(dateText: string | undefined): number | undefined {
    if (dateText !== this.#dateText) {
      this.#dateText = dateText;
      this.#dateMs = parseHttpDate(dateText);
    }
    return this.#dateMs;
  }
}
