import type { Clock } from '../../core/clock.ts';
import type { HttpClient, HttpResponse } from '../../http/client.ts';
import { HttpError } from '../../http/http-error.ts';
import { type MeasureTarget, requestTo } from '../common/send.ts';
import { signalsOf } from '../common/signals-of.ts';
import { type RampAnswer, RampPlan } from './ramp-plan.ts';
import type { RampResult } from './ramp-report.ts';

export type RampOptions = {
  target: MeasureTarget;
  client: HttpClient;
  clock: Clock;
  maxRate: number;
  signal: AbortSignal;
  /** Told about once a second. */
  onProgress: (progress: { phase: string; result: RampResult }) => void;
};

const PROGRESS_MS = 1_000;
const LONGEST_WAIT_MS = 1_000;

/** Does what the plan says, until it is done. @throws the signal's reason when aborted */
export async function runRamp(options: RampOptions): Promise<RampResult> {
  const { clock, maxRate, signal, onProgress } = options;
  const plan = new RampPlan({ maxRate, nowMs: clock.nowMs() });
  const runner = new Runner(plan, options);
  let toldAtMs = clock.nowMs();
  while (!plan.isDone) {
    signal.throwIfAborted();
    await runner.step();
    if (clock.nowMs() - toldAtMs < PROGRESS_MS) continue;
    toldAtMs = clock.nowMs();
    onProgress({ phase: plan.phase, result: plan.result() });
  }
  await runner.settled();
  return plan.result();
}

class Runner {
  readonly #plan: RampPlan;
  readonly #options: RampOptions;
  readonly #sending = new Set<Promise<void>>();
  #leastConnectMs = Number.POSITIVE_INFINITY;
  /** What is no failure of a request: it ends the ramp. */
  #fault: unknown = null;
  #wake: () => void = () => {};

  constructor(plan: RampPlan, options: RampOptions) {
    this.#plan = plan;
    this.#options = options;
  }

  /** Sends what is due, or waits for a time or an answer. */
  async step(): Promise<void> {
    if (this.#fault !== null) throw this.#fault;
    const nowMs = this.#options.clock.nowMs();
    const dueMs = this.#plan.nextSendMs(nowMs);
    if (this.#plan.isDone) return;
    if (dueMs <= nowMs) this.#start(this.#plan.sent(nowMs));
    else await this.#wait(Math.min(dueMs - nowMs, LONGEST_WAIT_MS));
  }

  async settled(): Promise<void> {
    await Promise.all(this.#sending);
    if (this.#fault !== null) throw this.#fault;
  }

  async #wait(delayMs: number): Promise<void> {
    const { clock, signal } = this.#options;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await clock.sleep(delayMs, AbortSignal.any([signal, woken.signal])).catch(() => signal.throwIfAborted());
  }

  #start(request: number): void {
    const sending = this.#send(request)
      .catch((error: unknown) => {
        this.#fault ??= error;
      })
      .finally(() => {
        this.#sending.delete(sending);
        this.#wake();
      });
    this.#sending.add(sending);
  }

  async #send(request: number): Promise<void> {
    const { client, target, clock, signal } = this.#options;
    try {
      const response = await client.send(requestTo(target), signal);
      this.#learnRoundTrip(response);
      this.#plan.answered(request, { nowMs: clock.nowMs(), ...readAnswer(response, clock.wallMs()) });
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const nothing = { status: null, isRefused: false, retryAfterMs: null, limits: [] };
      this.#plan.answered(request, { nowMs: clock.nowMs(), ...nothing });
    }
  }

  #learnRoundTrip({ timings, reusedConnection }: HttpResponse): void {
    if (reusedConnection || timings.connect <= 0 || timings.connect >= this.#leastConnectMs) return;
    this.#leastConnectMs = timings.connect;
    this.#plan.setRoundTrip(timings.connect);
  }
}

function readAnswer(response: HttpResponse, wallMs: number): Omit<RampAnswer, 'nowMs'> {
  const { limits, retryAfterMs, refusal } = signalsOf(response, wallMs);
  return { status: response.status, limits, retryAfterMs, isRefused: refusal !== null };
}
