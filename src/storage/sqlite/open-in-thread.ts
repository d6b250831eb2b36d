import { Worker } from 'node:worker_threads';
import { EnvironmentError } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import type { Connection } from '../crawlee/connection.ts';
import { CrawleeStorages } from '../crawlee/crawlee-storages.ts';
import type { DatasetStore, QueueStore, ValueStore } from '../store.ts';
import { openSqliteRun, type SqliteRunOptions, type SqliteRunStore } from './open.ts';
import type { CarriedError, Part, Reply, Request, ThreadOptions } from './thread-messages.ts';

type Waiting = { resolve: (result: unknown) => void; reject: (error: unknown) => void };

/**
 * As `openSqliteRun`, with the database on a thread of its own: the event loop never waits for the disk, and of a
 * request's cost only the copying of its records stays. The thread has the system's clock, whatever `ports` has.
 * Crawlee's storages have a connection of their own on this thread, opened when first used.
 * @throws EnvironmentError as `openSqliteRun`
 */
export async function openSqliteRunInThread({ ports, ...options }: SqliteRunOptions): Promise<SqliteRunStore> {
  const thread = new StorageThread(options, ports);
  await thread.opened;
  let beside: Promise<SqliteRunStore> | null = null;
  const connect = async (): Promise<Connection> => {
    beside ??= openSqliteRun({ ...options, ports, access: options.access === 'read' ? 'read' : 'join' });
    return (await beside).connect();
  };
  return {
    queue: thread.part<QueueStore>('queue'),
    datasets: thread.part<DatasetStore>('datasets'),
    values: thread.part<ValueStore>('values'),
    connect,
    storageClient: new CrawleeStorages(connect),
    close: async () => {
      await (await beside)?.close();
      await thread.close();
    },
  };
}

class StorageThread {
  readonly #worker: Worker;
  readonly #ports: Ports;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  readonly #opening = Promise.withResolvers<void>();
  #nextId = 1;
  #isOver = false;

  constructor(options: ThreadOptions, ports: Ports) {
    this.#ports = ports;
    this.#worker = new Worker(new URL('./thread-worker.ts', import.meta.url), { execArgv: [], workerData: options });
    this.#worker.on('message', (reply: Reply) => this.#receive(reply));
    this.#worker.on('error', (error) => this.#end(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#end(new EnvironmentError('The storage thread has ended'));
        resolve();
      });
    });
  }

  get opened(): Promise<void> {
    return this.#opening.promise;
  }

  /** An object whose every method is the same method on the other side. */
  part<T extends object>(part: Part): T {
    return new Proxy({} as T, {
      get: (_, method) => {
        // A promise that resolves to this object asks for `then`.
        if (typeof method !== 'string' || method === 'then') return undefined;
        return (...args: unknown[]) => this.#call({ part, method, args });
      },
    });
  }

  async close(): Promise<void> {
    if (!this.#isOver) this.#post('close');
    this.#worker.ref();
    await this.#ended;
  }

  #call(call: { part: Part; method: string; args: unknown[] }): Promise<unknown> {
    if (this.#isOver) return Promise.reject(new EnvironmentError('The storage of this run is closed'));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      // Whoever awaits a call keeps the process alive; the thread alone does not.
      if (this.#waiting.size === 1) this.#worker.ref();
      this.#post({ id, ...call });
    });
  }

  #post(request: Request): void {
    this.#worker.postMessage(request);
  }

  #receive(reply: Reply): void {
    switch (reply.kind) {
      case 'opened':
        this.#worker.unref();
        this.#opening.resolve();
        break;
      case 'failed':
        this.#opening.reject(errorOf(reply.error));
        break;
      case 'result':
        this.#take(reply.id)?.resolve(reply.result);
        break;
      case 'error':
        this.#take(reply.id)?.reject(errorOf(reply.error));
        break;
      case 'log':
        this.#ports.log[reply.level](reply.message, reply.facts);
    }
  }

  #take(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker.unref();
    return waiting;
  }

  #end(error: unknown): void {
    this.#isOver = true;
    this.#opening.reject(error);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function errorOf({ kind, message, stack }: CarriedError): Error {
  const error =
    kind === 'environment'
      ? new EnvironmentError(message)
      : kind === 'type'
        ? new TypeError(message)
        : new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
