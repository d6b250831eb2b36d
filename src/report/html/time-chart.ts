import { clockTime, timeAxis, valueAxis } from './axis.ts';
import { html, type Markup } from './markup.ts';

export type Series = {
  name: string;
  values: readonly (number | null)[];
  /** Number of its colour in the style sheet, 1 to 8. */
  color: number;
  /** area = filled below; step = a limit: dashed, and level until it changes. */
  shape: 'line' | 'area' | 'step';
};

export type TimeChart = {
  id: string;
  /** What a reader who cannot see it is told. */
  label: string;
  /** Where each value stands, s. */
  secs: readonly number[];
  endSecs: number;
  series: readonly Series[];
  /** Marks below the curves. */
  events?: readonly { atSecs: number; text: string }[];
  format: (value: number) => string;
};

// The drawing is stretched to the width of the page; only its proportions matter.
const WIDTH = 1_000;
const HEIGHT = 240;
const MOST_EVENTS_TOLD = 3;

/** Values over time: curves, axes, a legend; a cursor by mouse, touch and arrow keys tells the values (script.js). */
export function timeChart(chart: TimeChart): Markup {
  const greatest = Math.max(0, ...chart.series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const { top, ticks } = valueAxis(greatest, chart.format);
  const place = {
    x: (secs: number) => (secs / Math.max(chart.endSecs, 1e-9)) * WIDTH,
    y: (value: number) => HEIGHT - (value / top) * HEIGHT,
  };
  return html`<figure class="chart" id="${chart.id}" data-points="${JSON.stringify(cursorTexts(chart))}">
${legend(chart)}
<div class="plot">
<div class="y" aria-hidden="true">${ticks.map(({ at, label }) => html`<span style="bottom:${percent(at)}">${label}</span>`)}</div>
<div class="field" tabindex="0" role="img" aria-label="${chart.label}. Arrow keys tell the values.">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
${ticks.map(({ at }) => html`<line class="grid" x1="0" x2="${WIDTH}" y1="${HEIGHT * (1 - at)}" y2="${HEIGHT * (1 - at)}"/>`)}
${chart.series.map((series) => curve(series, chart, place))}
</svg>
${(chart.events ?? []).map(({ atSecs }) => html`<i class="event" style="left:${percent(place.x(atSecs) / WIDTH)}"></i>`)}
<b class="cursor" hidden></b>
</div>
<div class="x" aria-hidden="true">${timeAxis(chart.endSecs).map(({ at, label }) => html`<span style="left:${percent(at)}">${label}</span>`)}</div>
</div>
<output class="tip" aria-live="polite"></output>
</figure>`;
}

function legend({ series, events = [] }: TimeChart): Markup {
  return html`<ul class="legend">${series.map(
    ({ name, color, shape }) => html`<li><i class="key c${color} ${shape}"></i>${name}</li>`,
  )}${events.length > 0 && html`<li><i class="key mark"></i>event</li>`}</ul>`;
}

type Place = { x: (secs: number) => number; y: (value: number) => number };

function curve({ values, color, shape }: Series, { secs, endSecs }: TimeChart, { x, y }: Place): Markup[] {
  return runsOf(values).map(({ from, to }) => {
    const points: string[] = [];
    const add = (atSecs: number, value: string): void => void points.push(`${x(atSecs).toFixed(1)},${value}`);
    for (let at = from; at < to; at++) {
      const thisSecs = secs[at] as number;
      const nextSecs = secs[at + 1] ?? endSecs;
      const value = y(values[at] as number).toFixed(1);
      const isLevel = shape === 'step' || to - from === 1;
      // A curve goes through the middles of its stretches of time; at the ends of the chart it goes on to the edge.
      if (isLevel || at === 0) add(thisSecs, value);
      if (!isLevel) add((thisSecs + nextSecs) / 2, value);
      if (isLevel || at === values.length - 1) add(nextSecs, value);
    }
    const line = html`<polyline class="c${color} ${shape}" points="${points.join(' ')}"/>`;
    if (shape !== 'area') return line;
    const [first, last] = [points[0]?.split(',')[0] ?? '0', points.at(-1)?.split(',')[0] ?? '0'];
    return html`<polygon class="c${color} fill" points="${first},${HEIGHT} ${points.join(' ')} ${last},${HEIGHT}"/>${line}`;
  });
}

/** Stretches of values that are there. */
function runsOf(values: readonly (number | null)[]): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  for (let at = 0; at < values.length; at++) {
    if (values[at] === null) continue;
    const from = at;
    while (at < values.length && values[at] !== null) at++;
    runs.push({ from, to: at });
  }
  return runs;
}

/** By point: its place from 0 to 1, and what the cursor says there. */
function cursorTexts({ secs, endSecs, series, events = [], format }: TimeChart): [at: number, text: string][] {
  return secs.map((atSecs, index) => {
    const nextSecs = secs[index + 1] ?? endSecs;
    const middle = (atSecs + nextSecs) / 2 / Math.max(endSecs, 1e-9);
    const values = series.flatMap(({ name, values: all }) => {
      const value = all[index] ?? null;
      return value === null ? [] : [`${name} ${format(value)}`];
    });
    const here = events.filter((event) => event.atSecs >= atSecs && event.atSecs < nextSecs).map(({ text }) => text);
    const more = here.length > MOST_EVENTS_TOLD ? [`and ${here.length - MOST_EVENTS_TOLD} more`] : [];
    const lines = [[clockTime(atSecs), ...values].join(' · '), ...here.slice(0, MOST_EVENTS_TOLD), ...more];
    return [Number(Math.min(middle, 1).toFixed(4)), lines.join('\n')];
  });
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}
