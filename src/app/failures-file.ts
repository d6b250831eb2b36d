import type { AppCommands } from '../app-commands.ts';
import type { StartUrl } from '../config/input-schema.ts';
import { isSecretName } from '../core/secret-names.ts';
import type { RequestData } from '../crawl/lean-request.ts';
import { writeWhole } from '../export/destination.ts';
import type { NewRequest, QueueStore, RequeueSelection } from '../storage/store.ts';
import { readExistingRun } from './existing-run.ts';

/** `millrace retry-failed --failures FILE`: the failed requests as a list that another crawl takes as its input. */
export const writeFailures: AppCommands['writeFailures'] = async (job, { ports, stdout, signal }) => {
  const store = await readExistingRun(job, ports);
  try {
    const counted = { count: 0 };
    const lines = linesOf(store.queue, { result: 'failed', ...job.selection }, counted);
    await writeWhole({ path: job.file, force: job.force, stdout }, lines, { gzip: job.file.endsWith('.gz'), signal });
    return counted;
  } finally {
    await store.close();
  }
};

async function* linesOf(
  queue: QueueStore,
  selection: RequeueSelection,
  counted: { count: number },
): AsyncGenerator<Uint8Array> {
  for (let from: number | null = 0; from !== null; ) {
    const page: Awaited<ReturnType<QueueStore['handled']>> = await queue.handled(selection, from);
    counted.count += page.requests.length;
    const text = page.requests.map((request) => `${JSON.stringify(asListed(request))}\n`).join('');
    if (text !== '') yield Buffer.from(text);
    from = page.nextId;
  }
}

/** The request as a line of a list: what is not at its default, less headers that carry a secret. */
function asListed({ url, method, label, data }: NewRequest): StartUrl {
  const { payload, headers, userData } = data === null ? {} : (JSON.parse(data) as RequestData);
  const kept = Object.entries(headers ?? {}).filter(([name, value]) => !isSecretName(name) || isReference(value));
  return {
    url,
    ...(method === 'GET' ? {} : { method }),
    ...(payload === undefined ? {} : { payload }),
    ...(kept.length === 0 ? {} : { headers: Object.fromEntries(kept) }),
    ...(label === null ? {} : { label }),
    ...(userData === undefined ? {} : { userData }),
  };
}

/** It says where the secret is from, and is filled in when the request is sent. */
function isReference(value: string): boolean {
  return /\$\{(env|file):[^}]*\}/.test(value);
}
