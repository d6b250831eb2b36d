import { TimeoutError } from '@apify/timeout';
import type { Clock } from '../core/clock.ts';

/**
 * Waits for a handler, but not for ever.
 * @throws TimeoutError after `timeoutMs`; `onTimeout` is told of it first, so that the handler can stop
 */
export async function withTimeout(
  handler: Promise<unknown>,
  facts: { clock: Clock; timeoutMs: number; onTimeout: (error: TimeoutError) => void; message: string },
): Promise<void> {
  let cancel: () => void = () => {};
  const tooLate = new Promise<never>((_, reject) => {
    cancel = facts.clock.schedule(facts.timeoutMs, () => {
      const error = new TimeoutError(facts.message);
      reject(error);
      facts.onTimeout(error);
    });
  });
  try {
    await Promise.race([handler, tooLate]);
  } finally {
    cancel();
  }
}
