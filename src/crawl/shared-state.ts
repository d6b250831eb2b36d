import type { ValueStore } from '../storage/store.ts';
import type { PendingWork } from './pending-work.ts';

const STATE_KEY = 'CRAWLEE_STATE';

/** Crawlee's `useState`: one object that all handlers share, stored with the acknowledgement of whoever used it. */
export class SharedState {
  readonly #values: ValueStore;
  readonly #users = new WeakSet<PendingWork>();
  #loading: Promise<object> | null = null;
  #state: object | null = null;

  constructor(values: ValueStore) {
    this.#values = values;
  }

  async use<State extends object>(defaultValue: State): Promise<State> {
    this.#loading ??= this.#values.get<object>(STATE_KEY).then((stored) => {
      this.#state = stored ?? defaultValue;
      return this.#state;
    });
    return (await this.#loading) as State;
  }

  markUsed(work: PendingWork): void {
    this.#users.add(work);
  }

  /** Puts the state, as it is now, into the transaction of a request that used it. */
  addTo(work: PendingWork): void {
    if (this.#state !== null && this.#users.has(work)) work.setValue(STATE_KEY, JSON.stringify(this.#state));
  }

  /** For changes made outside of any request. */
  async save(): Promise<void> {
    if (this.#state !== null) await this.#values.set(STATE_KEY, this.#state);
  }
}
