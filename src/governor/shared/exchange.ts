import type { Lead, Share } from './shares.ts';

/** What a worker says of one key. */
export type KeyReport = Omit<Share, 'workerId' | 'grantedRps'> & {
  key: string;
  /** So many workers may send to it at once. */
  mostSharers: number;
  /** The server told to wait for so long from now; null = nothing new. */
  parkForMs: number | null;
};

/** What a worker is granted, and whose law it goes by (null = its own); of how many workers, itself included. */
export type KeyDecision = { grantedRps: number | null; lead: Lead | null; workers: number };

export type ExchangeAnswer = {
  decisions: ReadonlyMap<string, KeyDecision>;
  /** Keys that somebody was told to leave alone, and for how long from now, ms. */
  parks: readonly { key: string; forMs: number }[];
};

export type ExchangeOptions = {
  /** How long what is decided holds, ms. */
  leaseMs: number;
  /** @param others shares of other workers whose leases have not ended */
  decide: (report: KeyReport, others: readonly Share[]) => KeyDecision;
};

/** Where workers tell one another what they want, have found and were told. One decides at a time. */
export interface LimitExchange {
  readonly workerId: number;
  exchange(reports: readonly KeyReport[], options: ExchangeOptions): Promise<ExchangeAnswer>;
}
