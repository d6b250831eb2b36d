import { Actor } from 'apify';
import { requestIdOf } from '../storage/request-id.ts';
import type { Platform, PlatformQueue, PlatformRecords, QueuedRequest } from './platform.ts';

type Client = ReturnType<typeof Actor.newClient>;

/** Opens the connection to Apify's platform that the environment of an Actor run describes. */
export async function openApifyPlatform(): Promise<Platform> {
  // How a run ends on migrating and aborting is ours to decide.
  await Actor.init({ gracefulShutdown: false });
  const client = Actor.newClient();
  const { config } = Actor;
  const runId = config.get('actorRunId');
  const defaultDatasetId = config.get('defaultDatasetId')!;
  return {
    defaultDatasetId,
    records: recordsOf(client, config.get('defaultKeyValueStoreId')!),
    queue: queueOf(client, config.get('defaultRequestQueueId')!),
    input: () => Actor.getInput(),
    on: (event, listener) => Actor.on(event, listener),
    createDataset: async () => (await client.datasets().getOrCreate()).id,
    itemCount: async (datasetId) => (await client.dataset(datasetId).get())?.itemCount ?? 0,
    push: (datasetId, jsonArray) => client.dataset(datasetId).pushItems(jsonArray),
    setStatus: async (statusMessage, { isTerminal = false, isError = false } = {}) => {
      if (!runId) return;
      const level = { isStatusMessageTerminal: isTerminal, statusMessageLevel: isError ? 'ERROR' : 'INFO' };
      await client.run(runId).update({ statusMessage, ...level });
    },
    reboot: async () => {
      if (runId) await client.run(runId).reboot();
    },
    close: () => Actor.exit({ exit: false }),
  };
}

function recordsOf(client: Client, storeId: string): PlatformRecords {
  const store = client.keyValueStore(storeId);
  return {
    get: async (key) => {
      const record = await store.getRecord(key, { buffer: true });
      return record === undefined ? null : (record.value as Buffer);
    },
    // Its types know no buffers; it sends them as they are.
    set: (key, value, contentType) => store.setRecord({ key, value: value as string, contentType }),
    delete: (key) => store.deleteRecord(key),
  };
}

function queueOf(client: Client, queueId: string): PlatformQueue {
  // The platform tells several users of a queue apart by it.
  const queue = client.requestQueue(queueId, { clientKey: 'millrace' });
  return {
    add: async (requests, { forefront }) => {
      const { unprocessedRequests } = await queue.batchAddRequests(requests.map(asSent), { forefront });
      return { unprocessed: unprocessedRequests.length };
    },
    update: async (request) => {
      await queue.updateRequest({ ...asSent(request), id: requestIdOf(request.uniqueKey) });
    },
    list: () => listed(queue),
  };
}

function asSent({ uniqueKey, url, method, handledAt, userData }: QueuedRequest) {
  return { uniqueKey, url, method: method as 'GET', userData, ...(handledAt === null ? {} : { handledAt }) };
}

async function* listed(queue: ReturnType<Client['requestQueue']>): AsyncIterable<QueuedRequest> {
  for await (const { items } of queue.paginateRequests()) {
    for (const { uniqueKey, url, method = 'GET', handledAt, userData = {} } of items)
      yield { uniqueKey, url, method, handledAt: handledAt ? String(handledAt) : null, userData };
  }
}
