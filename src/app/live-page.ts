import type { LivePageSpec } from '../config/crawl-job.ts';
import type { Ports } from '../core/ports.ts';
import type { ReportData } from '../report/html/report-data.ts';
import type { LivePage } from '../report/live/serve-live-page.ts';
import type { PreparedRun } from './prepare-run.ts';
import { type CrawlMoment, runningSummaryOf } from './run-summary.ts';

/**
 * Opens the page that --ui asks for; what that needs is loaded only then.
 * @returns null where none is asked for
 * @throws EnvironmentError when the port is taken
 */
export async function openLivePage(spec: LivePageSpec | undefined, ports: Ports): Promise<LivePage | null> {
  if (spec === undefined) return null;
  const { serveLivePage } = await import('../report/live/serve-live-page.ts');
  const page = await serveLivePage({ ...spec, ports });
  const isOpen = !['127.0.0.1', 'localhost', '::1'].includes(spec.address);
  ports.log.info(`Watch the crawl at ${page.url}${isOpen ? ' (open to whoever can reach this machine)' : ''}`);
  return page;
}

/** Lets the page show the crawl as it is whenever it is drawn. */
export async function watchCrawl(
  page: LivePage | null,
  { prepared, ports, moment }: { prepared: PreparedRun; ports: Pick<Ports, 'clock'>; moment: () => CrawlMoment },
): Promise<void> {
  if (page === null) return;
  const { buildReportData } = await import('../report/html/report-data.ts');
  page.watch(async () => {
    const { summary, recorder } = await runningSummaryOf(prepared, moment());
    return buildReportData({ summary, recorder, config: prepared.job.input, writtenAtMs: ports.clock.wallMs() });
  });
}

/** Shows the finished report to who is looking, and tells where it stays. */
export async function endLivePage(page: LivePage | null, report: ReportData): Promise<void> {
  await page?.end(
    report,
    `The crawl has ended. This page stays as report.html in the folder of run "${report.summary.run}".`,
  );
}
