import type { AppCommands } from '../app-commands.ts';
import type { RetryJob } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import { crawl } from './crawl-command.ts';
import { openExistingRun } from './existing-run.ts';
import { saveMeta } from './run-meta.ts';

/** `millrace retry-failed`: puts a run's failed requests back and crawls them. */
export const retryFailed: AppCommands['retryFailed'] = async (job, context) => {
  const { log } = context.ports;
  const count = await putBack(job, context.ports);
  if (count === 0) log.info(`Run "${job.crawl.run}" has no failed request of that kind.`);
  else log.info(`${count} failed requests of run "${job.crawl.run}" are tried again.`);
  return crawl(job.crawl, context);
};

async function putBack({ crawl: place, selection }: RetryJob, ports: Ports): Promise<number> {
  const { run, meta } = await openExistingRun(place, ports);
  try {
    if (meta.samplePages !== undefined)
      throw new UsageError(`Run "${place.run}" is a sample, which is begun anew each time: crawl it again.`);
    const count = await run.store.queue.requeue({ result: 'failed', ...selection });
    // Even with none to retry it is opened to be continued, and not begun anew.
    await saveMeta(run.store.values, { ...meta, isFinished: false });
    return count;
  } finally {
    await run.close();
  }
}
