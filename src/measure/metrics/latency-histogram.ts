import { Histogram } from '../../core/histogram.ts';
import { labelledHosts, type MetricsSource } from './metrics-source.ts';

const NAME = 'millrace_request_duration_seconds';
// As Prometheus' own default buckets, and finer below.
const BOUNDS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];

/**
 * The recorder's histograms in Prometheus' text format. They are kept anyway, so that a request costs nothing more.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function latencyText(source: Pick<MetricsSource, 'hosts'>): string {
  const byLabel = new Map<string, Histogram>();
  for (const { label, record } of labelledHosts(source.hosts())) {
    const histogram = byLabel.get(label) ?? new Histogram();
    histogram.merge(record.latency);
    byLabel.set(label, histogram);
  }
  const lines = [...byLabel].flatMap(([label, histogram]) => linesOf(label, histogram));
  return [
    `# HELP ${NAME} Time on the wire of answers that were not rejections, name look-up to last byte`,
    `# TYPE ${NAME} histogram`,
    ...lines,
    '',
  ].join('\n');
}

function linesOf(host: string, histogram: Histogram): string[] {
  const label = `host="${escapeLabel(host)}"`;
  const buckets = BOUNDS_MS.map((boundMs) => {
    return `${NAME}_bucket{${label},le="${boundMs / 1_000}"} ${histogram.countUpTo(boundMs)}`;
  });
  return [
    ...buckets,
    `${NAME}_bucket{${label},le="+Inf"} ${histogram.count}`,
    `${NAME}_sum{${label}} ${histogram.sum / 1_000}`,
    `${NAME}_count{${label}} ${histogram.count}`,
  ];
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
