/** A mark on an axis: its place from 0 to 1, and its label. */
export type Tick = { at: number; label: string };

/** @returns the top of an axis that holds `greatest`, and about four marks at round values */
export function valueAxis(greatest: number, format: (value: number) => string): { top: number; ticks: Tick[] } {
  const step = roundStep(greatest > 0 ? greatest / 4 : 0.25);
  const count = Math.max(1, Math.ceil(greatest / step - 1e-9));
  const top = count * step;
  return { top, ticks: Array.from({ length: count + 1 }, (_, n) => ({ at: n / count, label: format(n * step) })) };
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough - 1e-12) ?? 10) * power;
}

const TIME_STEPS_SECS = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
  172_800, 604_800,
];

/** @returns marks at round times from 0 to `endSecs`, at most six steps */
export function timeAxis(endSecs: number): Tick[] {
  if (endSecs <= 0) return [{ at: 0, label: '0' }];
  const step = TIME_STEPS_SECS.find((secs) => endSecs / secs <= 6) ?? Math.ceil(endSecs / 6 / 604_800) * 604_800;
  const ticks: Tick[] = [];
  for (let n = 0; n * step <= endSecs; n++) ticks.push({ at: (n * step) / endSecs, label: clockTime(n * step) });
  return ticks;
}

/** 95 as "1:35", 3700 as "1:01:40"; below a minute "5 s". */
export function clockTime(secs: number): string {
  if (secs < 60) return `${Number(secs.toFixed(1))} s`;
  const whole = Math.round(secs);
  const hours = Math.floor(whole / 3_600);
  const minutes = Math.floor((whole % 3_600) / 60);
  const rest = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}
