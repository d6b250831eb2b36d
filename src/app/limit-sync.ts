import type { Ports } from '../core/ports.ts';
import type { ExchangeOptions, LimitExchange } from '../governor/shared/exchange.ts';
import { GRANT_LEASE_MS, type SharedGovernor } from '../governor/shared/shared-governor.ts';

/** Whoever was told to wait is heard of by all within twice this. */
const EVERY_MS = 200;
const LOOK_FOR_NEWS_MS = 20;
// Of many keys each exchange costs more: it comes less often.
const MS_A_KEY = 0.5;
const LONGEST_BETWEEN_MS = 500;

/** Exchanges a worker's limits with the others, several times a second. */
export class LimitSync {
  readonly #governor: SharedGovernor;
  readonly #exchange: LimitExchange;
  readonly #ports: Ports;
  #cancel: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #isStopped = false;
  #nextAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: { governor: SharedGovernor; exchange: LimitExchange; ports: Ports }) {
    this.#governor = options.governor;
    this.#exchange = options.exchange;
    this.#ports = options.ports;
  }

  /** `onError` is called once: the crawl cannot go on. */
  start(onError: (error: unknown) => void): void {
    const { clock } = this.#ports;
    this.#cancel = clock.schedule(LOOK_FOR_NEWS_MS, () => {
      const isDue = this.#governor.hasNews || clock.nowMs() >= this.#nextAtMs;
      this.#running = (isDue ? this.#once() : Promise.resolve()).then(() => {
        if (!this.#isStopped) this.start(onError);
      }, onError);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel();
    await this.#running;
  }

  async #once(): Promise<void> {
    const { clock } = this.#ports;
    const sentAtMs = clock.nowMs();
    const reports = this.#governor.report(sentAtMs);
    this.#nextAtMs = sentAtMs + Math.min(EVERY_MS + MS_A_KEY * reports.length, LONGEST_BETWEEN_MS);
    if (reports.length === 0) return;
    const decide: ExchangeOptions['decide'] = (report, others) => this.#governor.decide(report, others);
    const answer = await this.#exchange.exchange(reports, { leaseMs: GRANT_LEASE_MS, decide });
    this.#governor.apply(answer, { sentAtMs, nowMs: clock.nowMs() });
  }
}
