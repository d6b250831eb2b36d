import type { CommandContext } from '../app-commands.ts';
import type { PreparedRun } from './prepare-run.ts';

/** Shows the run to who works beside the crawl, if anybody does. @returns the run as the crawl is to use it */
export async function accompany(
  prepared: PreparedRun,
  { companion }: Pick<CommandContext, 'companion'>,
  fail: (error: unknown) => void,
): Promise<PreparedRun> {
  if (companion === undefined) return prepared;
  const { run, job } = prepared;
  const store = await companion.begin({ store: run.store, mainDataset: job.input.dataset, fail });
  return { ...prepared, run: { ...run, store } };
}
