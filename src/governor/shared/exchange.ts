import type { FoundLimit, Share } from './shares.ts';

/** What a worker says of one key. */
export type KeyReport = {
  key: string;
  wantedRps: number;
  sentRps: number;
  /** Configured or stated, for all workers together; null = none is known here. */
  ceilingRps: number | null;
  mostSharers: number;
  /** The level at which this worker was refused last, if that is news; null = nothing new. */
  newlyFoundRps: number | null;
  /** The server told to wait for so long from now; null = nothing new. */
  parkForMs: number | null;
};

/** What is known of a key besides this worker's own. */
export type KeyKnowledge = { others: readonly Share[]; found: FoundLimit | null; nowMs: number };

/** What a worker is granted, and what it has found out, to be written down. */
export type KeyDecision = {
  grantedRps: number | null;
  found: FoundLimit | null;
  /** How long ago that was found, ms. */
  foundAgeMs: number;
  workers: number;
};

export type ExchangeAnswer = {
  decisions: ReadonlyMap<string, KeyDecision>;
  /** Keys that somebody was told to leave alone, and for how long from now, ms. */
  parks: readonly { key: string; forMs: number }[];
};

/** Where workers tell one another what they want, have found and were told. One decides at a time. */
export interface LimitExchange {
  readonly workerId: number;
  exchange(
    reports: readonly KeyReport[],
    options: { leaseMs: number; decide: (report: KeyReport, knowledge: KeyKnowledge) => KeyDecision },
  ): Promise<ExchangeAnswer>;
}
