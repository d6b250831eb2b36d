import type { Clock } from '../../core/clock.ts';
import type { HttpClient, HttpResponse } from '../../http/client.ts';
import { median } from '../common/numbers.ts';
import { type MeasureTarget, requestTo } from '../common/send.ts';
import type { DateSeen } from './clock-skew.ts';
import type { PhaseTimes } from './probe-report.ts';

/** One measured request. */
export type ExchangeSample = { response: HttpResponse; phases: PhaseTimes; date: DateSeen };

/** Sends one request and times it as a whole beside its phases. @throws HttpError */
export async function sample(
  client: HttpClient,
  target: MeasureTarget,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<ExchangeSample> {
  const sentWallMs = clock.wallMs();
  const startedMs = clock.nowMs();
  const response = await client.send(requestTo(target), signal);
  const total = clock.nowMs() - startedMs;
  const date = response.headers.date;
  return {
    response,
    phases: { ...response.timings, total },
    date: { dateText: Array.isArray(date) ? date[0] : date, sentWallMs, receivedWallMs: clock.wallMs() },
  };
}

/** @returns the median of each phase; null when there is no sample */
export function medianPhases(samples: readonly ExchangeSample[]): PhaseTimes | null {
  if (samples.length === 0) return null;
  const of = (phase: keyof PhaseTimes): number => median(samples.map(({ phases }) => phases[phase])) ?? 0;
  return {
    dns: of('dns'),
    connect: of('connect'),
    tls: of('tls'),
    firstByte: of('firstByte'),
    download: of('download'),
    total: of('total'),
  };
}
