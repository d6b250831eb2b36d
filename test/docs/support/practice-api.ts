import { systemClock } from '../../../src/core/clock.ts';
import { startPracticeApi } from '../../../src/practice-api/start-practice-api.ts';

/** The practice API, without faults: what a page promises must not depend on luck. */
export function practiceApiServer(): Promise<{ url: string; close(): Promise<void> }> {
  return startPracticeApi({
    port: 0,
    items: 60,
    latencyMs: 2,
    errorRate: 0,
    rateLimit: null,
    seed: 1,
    clock: systemClock,
  });
}
