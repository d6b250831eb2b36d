import type { StatedLimit } from '../../governor/signals/stated-limit.ts';
import type { RampResult } from './ramp-report.ts';
import type { RateBracket } from './rate-bracket.ts';

/** A limit that a ramp has found. */
export type Found = Pick<RampResult, 'limitRps' | 'rangeRps' | 'concurrency' | 'windowMs'> & {
  kind: Exclude<RampResult['kind'], 'none found'>;
};

/** What a server says of its limit, as a rate. */
export type StatedRate = { limitRps: number; windowMs: number };

const RATE = { kind: 'rate', concurrency: null, windowMs: null } as const;
// The first pause is a second, and answers take their time: only a longer one is the server's doing.
const LONGEST_MOMENT_MS = 2_500;
const MOMENT_REQUESTS = 5;
// The lengths that servers use.
const WINDOWS_MS = [5_000, 10_000, 15_000, 30_000, 60_000, 300_000, 900_000, 3_600_000];

/** @returns the lowest rate the server states; null when it states none */
export function statedRate(limits: readonly StatedLimit[]): StatedRate | null {
  const rates = limits.flatMap(({ unit, limit, windowMs }) =>
    unit === 'requests' && limit !== null && windowMs !== null && windowMs > 0
      ? [{ limitRps: (limit * 1_000) / windowMs, windowMs }]
      : [],
  );
  return rates.sort((a, b) => a.limitRps - b.limitRps)[0] ?? null;
}

export function foundStated({ limitRps, windowMs }: StatedRate): Found {
  const kind = windowMs > 1_000 ? 'window' : 'rate';
  return { ...RATE, kind, limitRps, rangeRps: { least: limitRps, most: limitRps }, windowMs };
}

/** @param goodputRps good answers a second while answers queued at the server */
export function foundByKnee(goodputRps: number): Found {
  return { ...RATE, limitRps: goodputRps, rangeRps: { least: goodputRps * 0.9, most: goodputRps * 1.1 } };
}

/** @param told.accepted requests that have to last for `windowMs`, of which `waitMs` are still to be waited */
export function foundByLongWait(told: { accepted: number; waitMs: number; windowMs: number }): Found {
  const { accepted, waitMs, windowMs } = told;
  const limitRps = (accepted * 1_000) / windowMs;
  return {
    ...RATE,
    kind: 'window',
    limitRps,
    rangeRps: { least: limitRps, most: (accepted * 1_000) / waitMs },
    windowMs,
  };
}

export function foundAtOnce(concurrency: number): Found {
  return { ...RATE, kind: 'concurrency', limitRps: null, rangeRps: null, concurrency };
}

/**
 * A bucket lets the next one in after a moment; who stays shut for longer counts by windows.
 * @param longestShutMs longest time from a refusal to the next request that was let in
 */
export function foundByRefusals({ least, most, middle }: RateBracket, longestShutMs: number): Found {
  const isWindow = longestShutMs > Math.max(LONGEST_MOMENT_MS, (MOMENT_REQUESTS * 1_000) / middle);
  const windowMs = isWindow ? (WINDOWS_MS.find((length) => length >= longestShutMs) ?? null) : null;
  return { ...RATE, kind: isWindow ? 'window' : 'rate', limitRps: middle, rangeRps: { least, most }, windowMs };
}

/** @returns how many at once to try: some more than ever were */
export function clumpSize(most: number): number {
  return Math.max(3, Math.ceil(most * 1.15) + 1);
}
