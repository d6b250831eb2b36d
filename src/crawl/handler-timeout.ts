import { TimeoutError } from '@apify/timeout';
import type { Clock } from '../core/clock.ts';

/**
 * Waits for a handler, but not for ever.
 * @throws TimeoutError after `timeoutMs`; `controller` is aborted then, so that the handler can stop
 */
export async function withTimeout(
  handler: Promise<unknown>,
  facts: { clock: Clock; timeoutMs: number; controller: AbortController; message: string },
): Promise<void> {
  let cancel: () => void = () => {};
  const tooLate = new Promise<never>((_, reject) => {
    cancel = facts.clock.schedule(facts.timeoutMs, () => {
      const error = new TimeoutError(facts.message);
      facts.controller.abort(error);
      reject(error);
    });
  });
  try {
    await Promise.race([handler, tooLate]);
  } finally {
    cancel();
  }
}
