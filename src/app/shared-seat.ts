import type { Ports } from '../core/ports.ts';
import { SECOND_MS } from '../core/units.ts';
import type { PostgresRunStore } from '../storage/postgres/open.ts';

const BEAT_EVERY_MS = SECOND_MS;

/** Whoever added the input is not heard of, or has handed it on: it is read no further here. */
export const LEAD_LOST = new Error('Another worker leads the run');

/**
 * A worker's place at a shared run. One worker at a time has the lead: it adds the input and writes the files. Who may lead
 * takes over from a lead that is not heard of.
 */
export class SharedSeat {
  readonly store: PostgresRunStore;
  readonly mayLead: boolean;
  readonly #ports: Ports;
  #isLead = false;
  #leadLost = new AbortController();
  #cancel: () => void = () => {};
  #beating: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: { store: PostgresRunStore; mayLead: boolean; ports: Ports }) {
    this.store = options.store;
    this.mayLead = options.mayLead;
    this.#ports = options.ports;
  }

  get isLead(): boolean {
    return this.#isLead;
  }

  /** Aborted with LEAD_LOST when the present lead is lost. */
  get leadSignal(): AbortSignal {
    return this.#leadLost.signal;
  }

  /** Says for the first time that the worker is there, and asks for the lead. */
  async begin(): Promise<void> {
    await this.store.heartbeat();
    if (this.mayLead) this.#setLead(await this.store.begin());
  }

  /** Says that the worker is still there, and asks for the lead. */
  async beat(): Promise<void> {
    await this.store.heartbeat();
    if (this.mayLead) this.#setLead(await this.store.lead());
  }

  #setLead(hasLead: boolean): void {
    if (hasLead === this.#isLead) return;
    this.#isLead = hasLead;
    if (hasLead) this.#leadLost = new AbortController();
    else this.#leadLost.abort(LEAD_LOST);
  }

  /** Goes on saying so, until stopped. `onError` is called once: the crawl cannot go on. */
  start(onError: (error: unknown) => void): void {
    this.#cancel = this.#ports.clock.schedule(BEAT_EVERY_MS, () => {
      this.#beating = this.beat().then(() => {
        if (!this.#isStopped) this.start(onError);
      }, onError);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#beating;
  }
}
