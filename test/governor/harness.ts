import type { CrawlEvent } from '../../src/core/events.ts';
import type { Sample } from '../../src/core/sample.ts';
import { createGovernor, type GovernorOptions } from '../../src/governor/create-governor.ts';
import type { Governor, HostPolicy } from '../../src/governor/governor.ts';

export const policy: HostPolicy = {
  maxConcurrency: 50,
  requestsPerSecond: null,
  minDelayMs: 0,
  headroom: 0.8,
  discovery: 'auto',
  limitScope: 'credential',
  stallSecs: 900,
  maxServerWaitSecs: 86_400,
};

/** Epoch ms at monotonic 0. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

export const KEY = 'api.example.com';

export type Answer = Partial<Omit<Sample, 'key'>> & { key?: string };

/** A governor on a clock that moves only when told to, without jitter. */
export function governed(options: Partial<HostPolicy> & { governor?: Partial<GovernorOptions> } = {}) {
  const { governor: governorOptions, ...overrides } = options;
  const events: CrawlEvent[] = [];
  const time = { nowMs: 0 };
  const governor: Governor = createGovernor({
    policyOf: () => ({ ...policy, ...overrides }),
    clock: { nowMs: () => time.nowMs, wallMs: () => EPOCH_MS + time.nowMs },
    random: () => 0,
    onEvent: (event) => events.push(event),
    ...governorOptions,
  });
  const ask = (key = KEY): number => governor.tryAcquire(key, time.nowMs);
  /** Ends an attempt now; by default it was sent 30 ms ago and answered 200. */
  const answer = (sample: Answer = {}) =>
    governor.finish({
      key: KEY,
      origin: `https://${KEY}`,
      sentAtMs: time.nowMs - 30,
      endedAtMs: time.nowMs,
      status: 200,
      failure: null,
      headers: {},
      wallMs: EPOCH_MS + time.nowMs,
      bodyText: null,
      overloaded: false,
      ...sample,
    });
  /** Sends one request and answers it 30 ms later. */
  const roundTrip = (sample: Answer = {}) => {
    const readyAtMs = ask(sample.key);
    if (readyAtMs !== 0) throw new Error(`not granted at ${time.nowMs}: ${readyAtMs}`);
    const sentAtMs = time.nowMs;
    time.nowMs += 30;
    return answer({ sentAtMs, ...sample });
  };
  return { governor, events, time, ask, answer, roundTrip, snapshot: () => governor.snapshot(time.nowMs)[0] };
}
