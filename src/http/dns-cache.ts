import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { Clock } from '../core/clock.ts';
import { MINUTE_MS } from '../core/units.ts';

/** Resolves a host name to all its addresses, as the system does (hosts file, search domains). */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>;

const FRESH_MS = MINUTE_MS;
// An answer this old is no longer used while its refresh keeps failing.
const STALE_MS = 10 * MINUTE_MS;
const MOST_NAMES = 10_000;

type Entry = { addresses: LookupAddress[]; resolvedAtMs: number };

const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, order: 'verbatim' });

/**
 * DNS answers, kept for 60 s. An older answer is still given at once while a fresh one is fetched in the background,
 * so that no request waits for a name that is known. Concurrent lookups of a name share one query.
 */
export class DnsCache {
  readonly #clock: Clock;
  readonly #resolve: Resolve;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<LookupAddress[]>>();

  constructor(options: { clock: Clock; resolve?: Resolve }) {
    this.#clock = options.clock;
    this.#resolve = options.resolve ?? systemResolve;
  }

  /**
   * @returns the addresses at once when known, else a promise of them
   * @throws (the promise) the system's error, `code` ENOTFOUND, EAI_AGAIN and so on
   */
  addressesOf(hostname: string): LookupAddress[] | Promise<LookupAddress[]> {
    const entry = this.#entries.get(hostname);
    if (!entry) return this.#query(hostname);
    const ageMs = this.#clock.nowMs() - entry.resolvedAtMs;
    if (ageMs < FRESH_MS) return entry.addresses;
    const refresh = this.#query(hostname);
    if (ageMs >= STALE_MS) return refresh;
    // The old answer serves on; a name that is gone for good is forgotten by #query.
    refresh.catch(() => {});
    return entry.addresses;
  }

  #query(hostname: string): Promise<LookupAddress[]> {
    const running = this.#pending.get(hostname);
    if (running) return running;
    const query = this.#resolveAndKeep(hostname).finally(() => this.#pending.delete(hostname));
    this.#pending.set(hostname, query);
    return query;
  }

  async #resolveAndKeep(hostname: string): Promise<LookupAddress[]> {
    try {
      const addresses = await this.#resolve(hostname);
      this.#keep(hostname, addresses);
      return addresses;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOTFOUND') this.#entries.delete(hostname);
      throw error;
    }
  }

  #keep(hostname: string, addresses: LookupAddress[]): void {
    this.#entries.delete(hostname);
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= MOST_NAMES && !oldest.done) this.#entries.delete(oldest.value);
    this.#entries.set(hostname, { addresses, resolvedAtMs: this.#clock.nowMs() });
  }
}
