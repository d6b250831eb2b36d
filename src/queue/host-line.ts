import type { LeasedRequest } from '../storage/store.ts';
import { Fifo } from './fifo.ts';

/**
 * What a host's line waits for: nothing at hand (idle), its turn (ready), a time (timed), one of its requests to
 * end (full), or its robots.txt (robots).
 */
export type LineState = 'idle' | 'ready' | 'timed' | 'full' | 'robots';

/** The requests of one host that are leased and at hand, in order: those of one session, or those that any may send. */
export class HostLine {
  readonly host: string;
  /** Who must send them; null = anybody. */
  readonly sessionId: string | null;
  readonly buffer = new Fifo<LeasedRequest>();
  state: LineState = 'idle';
  /** While it waits for a time: monotonic, ms. */
  dueAtMs = 0;
  /** Whether it waits, so that what it has at hand is of no use now. */
  isAside = false;
  /** When the present head got to the front; for the time it waits for a slot. */
  headSinceMs = 0;
  /** When the governor first held the present head back; null = it has not. */
  heldSinceMs: number | null = null;
  /** Its session cannot send before this, which is long: few are kept at hand. null = it can, or the wait is short. */
  farUntilMs: number | null = null;

  constructor(host: string, sessionId: string | null) {
    this.host = host;
    this.sessionId = sessionId;
  }
}
