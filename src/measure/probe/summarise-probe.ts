import { headerText } from '../../core/headers.ts';
import type { Signals } from '../../governor/signals/read-signals.ts';
import { median } from '../common/numbers.ts';
import { type MeasureTarget, wireBytesOf } from '../common/send.ts';
import { signalsOf } from '../common/signals-of.ts';
import { clockSkew } from './clock-skew.ts';
import { type ExchangeSample, medianPhases } from './exchange-sample.ts';
import { outlookOf } from './outlook.ts';
import type { PhaseTimes, StatedRate, UrlProbe } from './probe-report.ts';

/** What a probe saw. */
export type ProbeSightings = Pick<UrlProbe, 'error' | 'robots' | 'families' | 'keepAlive'> & {
  /** Each over a connection of its own, and one after the other over one connection. */
  fresh: ExchangeSample[];
  reused: ExchangeSample[];
};

/** Makes the report of what was seen. Pure. */
export function summariseProbe(
  { url }: MeasureTarget,
  seen: ProbeSightings,
  { wishedRps, maxConcurrency }: { wishedRps: number; maxConcurrency: number },
): UrlProbe {
  const all = [...seen.fresh, ...seen.reused];
  const kept = seen.reused.filter(({ response }) => response.reusedConnection);
  const fresh = medianPhases(seen.fresh);
  const reused = medianPhases(kept);
  const last = all.at(-1)?.response;
  const connects = all.map(({ phases }) => phases.connect).filter((connectMs) => connectMs > 0);
  const roundTripMs = connects.length > 0 ? Math.min(...connects) : null;
  const firstByteMs = median((kept.length > 0 ? kept : seen.fresh).map(({ phases }) => phases.firstByte));
  const signals = all.map(({ response, date }) => signalsOf(response, date.receivedWallMs));
  const limits = lastLimits(signals);
  return {
    url,
    host: new URL(url).host,
    status: last?.status ?? null,
    error: seen.error,
    httpVersion: last?.httpVersion ?? null,
    fresh,
    freshBest: fastest(seen.fresh),
    reused,
    samples: { fresh: seen.fresh.length, reused: kept.length },
    roundTripMs,
    serverMs: firstByteMs === null || roundTripMs === null ? null : Math.max(0, firstByteMs - roundTripMs),
    isReused: kept.length > 0,
    keepAlive: seen.keepAlive,
    statedKeepAliveMs: statedKeepAlive(last && headerText(last.headers, 'keep-alive')),
    contentEncoding: (last && headerText(last.headers, 'content-encoding')) ?? null,
    wireBytes: last === undefined ? null : wireBytesOf(last),
    bodyBytes: last?.body.length ?? null,
    limits,
    retryAfterMs: signals.findLast(({ retryAfterMs }) => retryAfterMs !== null)?.retryAfterMs ?? null,
    refusal: signals.find(({ refusal }) => refusal !== null)?.refusal?.reason ?? null,
    robots: seen.robots,
    clockSkewMs: clockSkew(all.map(({ date }) => date)),
    families: seen.families,
    outlook: outlookOf({ phases: reused ?? fresh, limits, wishedRps, maxConcurrency }),
  };
}

function fastest(samples: readonly ExchangeSample[]): PhaseTimes | null {
  const phases = samples.map((taken) => taken.phases).sort((a, b) => a.total - b.total);
  return phases[0] ?? null;
}

function lastLimits(signals: readonly Signals[]): StatedRate[] {
  const stated = signals.findLast(({ limits }) => limits.length > 0)?.limits ?? [];
  return stated.map(({ name, unit, limit, remaining, windowMs }) => ({ name, unit, limit, remaining, windowMs }));
}

function statedKeepAlive(header: string | undefined): number | null {
  const seconds = /timeout=(\d{1,9})/i.exec(header ?? '')?.[1];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
