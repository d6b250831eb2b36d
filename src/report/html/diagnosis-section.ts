import type { Summary } from '../../core/summary.ts';
import { formatShare } from '../format.ts';
import { html, type Markup } from './markup.ts';
import type { ReportData } from './report-data.ts';

type Finding = NonNullable<Summary['diagnosis']>[number];

/** On top of everything else: what to change for more throughput. Nothing when there is no diagnosis. */
export function diagnosisSection({ summary: { diagnosis } }: ReportData): Markup | null {
  if (diagnosis === null || diagnosis.length === 0) return null;
  const advised = diagnosis.filter(({ advice }) => advice !== '');
  const others = diagnosis.filter(({ advice }) => advice === '');
  const title = advised.length > 0 ? 'What would make it faster' : 'What the slots did';
  return html`<section aria-labelledby="diagnosis"><h2 id="diagnosis">${title}</h2>
<p class="note">Shares of the time that all slots together had, while there was a host to crawl.</p>
<ol class="findings">${[...advised, ...others].map(finding)}</ol></section>`;
}

function finding({ bottleneck, share, evidence, advice }: Finding): Markup {
  const isAdvised = advice !== '';
  return html`<li${isAdvised && html` class="advised"`}><div class="part">${formatShare(share)}
<div class="meter" aria-hidden="true"><i style="width:${Math.min(100, share * 100).toFixed(1)}%"></i></div></div>
<div><h3>${bottleneck.charAt(0).toUpperCase()}${bottleneck.slice(1)}</h3><p>${withCode(evidence)}</p>${isAdvised && html`<p class="advice">${withCode(advice)}</p>`}</div></li>`;
}

const CODE = /(`[^`]+`|hosts\."[^"]+"(?:\.\w+)*|(?<![\w-])--[a-z][a-z0-9-]*)/;

/** Text in which settings, options, and what stands between backticks is code. */
export function withCode(text: string): Markup {
  const parts = text.split(CODE);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part.replaceAll('`', '')}</code>` : part))}`;
}
