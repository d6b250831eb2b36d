/** @returns the value at that share of the sorted ones, between two neighbours; null when there is none */
export function quantile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const low = sorted[Math.floor(at)] as number;
  const high = sorted[Math.ceil(at)] as number;
  return low + (high - low) * (at - Math.floor(at));
}

export function median(values: readonly number[]): number | null {
  return quantile(values, 0.5);
}

/** @returns the value to three digits after the point; null stays null */
export function roundMs(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1_000) / 1_000;
}
