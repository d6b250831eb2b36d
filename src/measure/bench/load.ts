import type { Clock } from '../../core/clock.ts';
import type { HttpResponse } from '../../http/client.ts';
import { HttpError } from '../../http/http-error.ts';
import type { Tally } from './tally.ts';

export type LoadOptions = {
  clock: Clock;
  /** Sends one request. */
  send: () => Promise<HttpResponse>;
  count: number;
  tally: Tally;
  signal: AbortSignal;
};

// Beyond it an open load waits: memory is not endless, and the wait is counted as latency.
const MOST_IN_FLIGHT = 10_000;

/** A closed model: `concurrency` users, each of whom sends again as soon as the answer is there. */
export async function runClosed(options: LoadOptions & { concurrency: number }): Promise<void> {
  const { clock, count, concurrency, signal } = options;
  let left = count;
  const user = async (): Promise<void> => {
    while (left > 0) {
      signal.throwIfAborted();
      left -= 1;
      await sendOne(options, clock.nowMs());
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, count) }, user));
}

/**
 * An open model: requests are due at a fixed rate, whether earlier ones are answered or not. Latency counts from when
 * a request was due, so that one slow answer shows in all that should have been sent meanwhile.
 */
export async function runOpen(options: LoadOptions & { rate: number }): Promise<void> {
  const { clock, count, rate, signal } = options;
  const inFlight = new Set<Promise<void>>();
  const startedMs = clock.nowMs();
  for (let index = 0; index < count; index++) {
    const dueMs = startedMs + (index * 1_000) / rate;
    const waitMs = dueMs - clock.nowMs();
    if (waitMs > 0) await clock.sleep(waitMs, signal);
    while (inFlight.size >= MOST_IN_FLIGHT) await Promise.race(inFlight);
    signal.throwIfAborted();
    const sending = sendOne(options, dueMs).finally(() => inFlight.delete(sending));
    inFlight.add(sending);
    // Its error, if any, is met at the end; until then it must not count as unhandled.
    sending.catch(() => {});
  }
  await Promise.all(inFlight);
}

async function sendOne({ clock, send, tally, signal }: LoadOptions, dueMs: number): Promise<void> {
  const sentMs = clock.nowMs();
  try {
    const response = await send();
    const endedMs = clock.nowMs();
    tally.answered(response, { latencyMs: endedMs - dueMs, serviceMs: endedMs - sentMs });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof HttpError)) throw error;
    tally.failed(error.code);
  }
}
