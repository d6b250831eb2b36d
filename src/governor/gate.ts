/** Who asked for the wait: time parked on the server's word is not held against the host. */
export type ParkSource = 'server' | 'own';

/** A wait that begins at `nowMs`. */
export type Park = { nowMs: number; waitMs: number; jitterMs: number; source: ParkSource; reason: string };

/**
 * Parks a key: closed until a moment, then one request goes alone, and the gate opens when that one is answered.
 */
export class Gate {
  #isOpen = true;
  #untilMs = 0;
  #toldUntilMs = 0;
  #reason = '';
  #probeInFlight = false;
  #probeSentAtMs = 0;
  #serverParkedMs = 0;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** When the next request may go (it goes alone). */
  get untilMs(): number {
    return this.#untilMs;
  }

  get reason(): string {
    return this.#reason;
  }

  /** @returns 0 when a request may go, else when to ask again. A probe that hangs is given a second one beside it. */
  readyAtMs(nowMs: number, hungAfterMs: number): number {
    if (this.#isOpen) return 0;
    if (nowMs < this.#untilMs) return this.#untilMs;
    if (!this.#probeInFlight) return 0;
    const hungAtMs = this.#probeSentAtMs + hungAfterMs;
    return nowMs >= hungAtMs ? 0 : hungAtMs;
  }

  /** Closes, or keeps closed for longer; never opens earlier than somebody was told. */
  park(park: Park): void {
    const { nowMs, waitMs, jitterMs } = park;
    if (park.source === 'server') this.#extendToldWait(nowMs, nowMs + waitMs);
    const untilMs = nowMs + waitMs + jitterMs;
    if (this.#isOpen || untilMs > this.#untilMs) {
      this.#untilMs = untilMs;
      this.#reason = park.reason;
    }
    this.#isOpen = false;
    this.#probeInFlight = false;
  }

  #extendToldWait(nowMs: number, toldUntilMs: number): void {
    const fromMs = Math.max(nowMs, this.#toldUntilMs);
    this.#serverParkedMs += Math.max(0, toldUntilMs - fromMs);
    this.#toldUntilMs = Math.max(this.#toldUntilMs, toldUntilMs);
  }

  /** A request goes: while closed it is the probe. */
  sent(nowMs: number): void {
    if (this.#isOpen) return;
    this.#probeInFlight = true;
    this.#probeSentAtMs = nowMs;
  }

  cancelled(): void {
    this.#probeInFlight = false;
  }

  /** Whether a request sent at `sentAtMs` was sent as a probe of the present wait. */
  isProbe(sentAtMs: number): boolean {
    return !this.#isOpen && sentAtMs >= this.#untilMs;
  }

  /** The probe came back without an answer: another may go. */
  probeLost(): void {
    this.#probeInFlight = false;
  }

  open(): void {
    this.#isOpen = true;
    this.#probeInFlight = false;
  }

  /** All time spent or to be spent on the server's word, up to `nowMs`. */
  serverParkedMs(nowMs: number): number {
    return this.#serverParkedMs - Math.max(0, this.#toldUntilMs - nowMs);
  }
}
