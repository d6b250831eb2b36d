import type { AppCommands } from '../app-commands.ts';
import type { RetryJob } from '../config/run-jobs.ts';
import { UsageError } from '../core/errors.ts';
import type { Ports } from '../core/ports.ts';
import { openRun, runExists } from '../storage/runs.ts';
import { crawl } from './crawl-command.ts';
import { loadMeta, saveMeta } from './run-meta.ts';

/** `millrace retry-failed`: puts a run's failed requests back and crawls them. */
export const retryFailed: AppCommands['retryFailed'] = async (job, context) => {
  const { log } = context.ports;
  const count = await putBack(job, context.ports);
  if (count === 0) log.info(`Run "${job.crawl.run}" has no failed request of that kind.`);
  else log.info(`${count} failed requests of run "${job.crawl.run}" are tried again.`);
  return crawl(job.crawl, context);
};

async function putBack({ crawl: { storageDir, run: name }, selection }: RetryJob, ports: Ports): Promise<number> {
  if (!(await runExists(storageDir, name)))
    throw new UsageError(
      `There is no run "${name}" in ${storageDir}. --run names another run, --storage-dir another folder.`,
    );
  const run = await openRun({ storageDir, name, durability: 'normal', ports });
  try {
    const meta = await loadMeta(run.store.values);
    if (meta === null) throw new UsageError(`Run "${name}" was never begun: nothing of it can be tried again.`);
    if (meta.samplePages !== undefined)
      throw new UsageError(`Run "${name}" is a sample, which is begun anew each time: crawl it again.`);
    const count = await run.store.queue.requeue({ result: 'failed', ...selection });
    // Even with none to retry it is opened to be continued, and not begun anew.
    await saveMeta(run.store.values, { ...meta, isFinished: false });
    return count;
  } finally {
    await run.close();
  }
}
