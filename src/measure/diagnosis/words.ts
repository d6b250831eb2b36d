/** @returns "12 ms", "0.4 ms", "1.2 s" */
export function ms(value: number): string {
  if (value < 10) return `${value.toFixed(1)} ms`;
  return value < 1_000 ? `${Math.round(value)} ms` : `${(value / 1_000).toFixed(1)} s`;
}

/** @param share 0 to 1 */
export function percent(share: number): string {
  const value = share * 100;
  return value > 0 && value < 1 ? 'under 1 %' : `${Math.round(value)} %`;
}

/** @returns "50/s", "12.5/s", "0.25/s" */
export function rate(requestsPerSecond: number): string {
  return `${Number(requestsPerSecond.toPrecision(requestsPerSecond >= 100 ? 3 : 2))}/s`;
}
