import type { Log } from '../core/log.ts';
import type { MetricsServer } from '../measure/metrics/serve-metrics.ts';
import type { Composition } from './compose.ts';
import type { RunMonitor } from './run-monitor.ts';

/**
 * Serves the metrics of a crawl, where a port is given for them; what that needs is loaded only then.
 * @returns null without a port
 * @throws EnvironmentError when the port is in use
 */
export async function startMetrics(
  port: number | undefined,
  crawl: { composition: Composition; monitor: RunMonitor; isReady: () => boolean; log: Log },
): Promise<MetricsServer | null> {
  if (port === undefined) return null;
  const { composition, monitor, isReady, log } = crawl;
  const { recorder, queue, client } = composition;
  const { serveMetrics } = await import('../measure/metrics/serve-metrics.ts');
  const server = await serveMetrics(
    {
      hosts: () => recorder.hosts(),
      snapshots: () => monitor.snapshots,
      queue: () => monitor.counts,
      leased: () => queue.leased,
      backlog: () => queue.backlog,
      connections: () => client.stats(),
      isReady,
    },
    port,
  );
  log.info(`Metrics at http://localhost:${server.port}/metrics, health at /healthz and /readyz.`);
  return server;
}
