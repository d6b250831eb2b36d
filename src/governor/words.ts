import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../core/units.ts';

/** @returns a rate for people: "12.5/s" */
export function formatRate(requestsPerSecond: number): string {
  const digits = requestsPerSecond < 10 ? 2 : requestsPerSecond < 100 ? 1 : 0;
  return `${Number(requestsPerSecond.toFixed(digits))}/s`;
}

/** @returns a time for people: "1.5 s", "12 min", "3 h" */
export function formatSeconds(ms: number): string {
  if (ms >= 3 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} h`;
  if (ms >= 10 * MINUTE_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return `${Number((ms / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 1 : 0))} s`;
}
