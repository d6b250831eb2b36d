import type { CommandContext } from '../app-commands.ts';
import type { CrawlJob } from '../config/crawl-job.ts';
import { requireUrls } from '../queue/sources/require-urls.ts';
import { inspectDeclaredApi } from './declared-api.ts';
import { plainListOf } from './plain-list-of.ts';
import { openVault, requireSecrets } from './secrets.ts';

/**
 * Checks what the input says before anything is started. A run that is resumed has been checked before.
 * @throws UsageError with every problem
 */
export async function requireUsable(job: CrawlJob, { env, stdin, signal }: CommandContext): Promise<void> {
  if (job.source === 'resume') return;
  const { method, body, api, routes } = job.input;
  plainListOf(job.input);
  requireSecrets(job.input, openVault(env, job.baseDir));
  await inspectDeclaredApi(job, env);
  if (job.inputs.length === 0) return;
  await requireUrls(job.inputs, { defaults: { method, body }, stdin, signal, mayBeEmpty: api !== undefined || routes });
}
