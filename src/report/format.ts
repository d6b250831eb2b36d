const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const FINE = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 });

/** 1234567 as "1,234,567". */
export function formatCount(count: number): string {
  return WHOLE.format(count);
}

/** A rate or the like with three digits that matter: "0.25", "12.3", "1,234". */
export function formatNumber(value: number): string {
  return value >= 100 ? WHOLE.format(value) : FINE.format(value);
}

/** @returns "8.52 ms", "85 ms", "1.2 s", "–" for null */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  if (ms < 10) return `${formatNumber(ms)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  return formatDuration(ms / 1_000);
}

/** @returns "1.2 s", "3 min 05 s", "2 h 07 min", "3 d 04 h" */
export function formatDuration(secs: number): string {
  if (secs < 9.95) return `${secs.toFixed(1)} s`;
  const whole = Math.round(secs);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${twoDigits(whole % 60)} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
  return `${Math.floor(minutes / 1_440)} d ${twoDigits(Math.floor((minutes % 1_440) / 60))} h`;
}

/** @param share 0 to 1 */
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent > 0 && percent < 0.5) return '< 1 %';
  return `${Math.round(percent)} %`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
