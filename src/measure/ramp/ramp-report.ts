/** One second of a ramp. */
export type RampPoint = {
  /** Since the start, s. */
  second: number;
  /** Requests sent, answered well, and refused in it. */
  sent: number;
  good: number;
  refused: number;
  /** Median latency of the good ones, ms; null without any. */
  p50Ms: number | null;
};

/** What a ramp found. */
export type RampResult = {
  kind: 'rate' | 'window' | 'concurrency' | 'none found';
  /** How it shows: by refusals, by answers that get slow, or because the server says so. */
  shownBy: 'refusals' | 'slowness' | 'headers' | null;
  /** Requests per second in the long run; null where none was found. */
  limitRps: number | null;
  rangeRps: { least: number; most: number } | null;
  concurrency: number | null;
  windowMs: number | null;
  /** Why it ended, in plain words. */
  reason: string;
  /** Whether 80 % of it were sent for some seconds, and nothing was refused; null = that was not tried. */
  isVerified: boolean | null;
  requests: number;
  refused: number;
  /** Fastest rate it was sent at. */
  fastestRps: number;
  baseLatencyMs: number | null;
  points: RampPoint[];
};
