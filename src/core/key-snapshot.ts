/** One governor key's state, for the summary and the live page. */
export type KeySnapshot = {
  key: string;
  host: string;
  inFlight: number;
  concurrency: number;
  /** The rate it is paced at now; null = unpaced. */
  requestsPerSecond: number | null;
  limitRps: number | null;
  limitSource: 'configured' | 'stated' | 'discovered' | null;
  /** Epoch ms; null when not parked. */
  parkedUntilMs: number | null;
  parkedReason: string | null;
  givenUp: string | null;
  rateLimited: number;
};
