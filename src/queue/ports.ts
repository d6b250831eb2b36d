/**
 * What the queue asks before a request may go. Handed in, so that the queue knows neither sessions nor the governor's
 * inside. Times are of the monotonic clock, in ms.
 */
export interface Gate {
  /**
   * Asks for one send to the host now.
   * @param sessionId the session that must send it; null or left out = any may
   * @returns the granted governor key; or the time at which to ask again; Infinity = when a request of it has ended
   */
  tryAcquire(host: string, nowMs: number, sessionId?: string | null): string | number;
  /** Why nothing more is sent to the host in this run; null while it is not given up. */
  givenUp(host: string, nowMs: number): string | null;
  /** About how many sends the host could take within `horizonMs`: no more than that is kept at hand. */
  appetite(host: string, nowMs: number, horizonMs: number): number;
}

/** robots.txt, as far as known. */
export interface RobotsGate {
  check(url: string, nowMs: number): 'allowed' | 'unknown' | { disallowed: string };
  /** Resolves when the rules for the URL's origin may be known now; never rejects. */
  whenKnown(url: string): Promise<void>;
}
