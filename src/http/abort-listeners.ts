/**
 * Listens to each signal once, however many requests carry it, and holds no signal longer than its owner does.
 */
export class AbortListeners {
  readonly #heard = new WeakSet<AbortSignal>();
  readonly #self: WeakRef<AbortListeners>;
  readonly #onAbort: (signal: AbortSignal) => void;
  #last: AbortSignal | null = null;

  constructor(onAbort: (signal: AbortSignal) => void) {
    this.#onAbort = onAbort;
    this.#self = new WeakRef(this);
  }

  heard(signal: AbortSignal): void {
    this.#onAbort(signal);
  }

  listen(signal: AbortSignal): void {
    // Most often the run's own signal, request after request.
    if (signal === this.#last || this.#heard.has(signal)) return;
    this.#last = signal;
    this.#heard.add(signal);
    // A signal that outlives the client must not keep it in memory.
    const self = this.#self;
    signal.addEventListener('abort', () => self.deref()?.heard(signal), { once: true });
  }
}
