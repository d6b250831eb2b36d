import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiContext } from '../../src/api/api-context.ts';
import { systemFiles } from '../../src/api/api-context.ts';
import { type CompiledApi, compileApi } from '../../src/api/compile-api.ts';
import type { FinishedResource } from '../../src/api/finish-api.ts';
import { moduleImporter } from '../../src/api/load-module.ts';
import type { ApiDocument } from '../../src/config/api-schema.ts';
import { apiSchema } from '../../src/config/api-schema.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { CrawlError } from '../../src/core/errors.ts';
import type { Log } from '../../src/core/log.ts';
import type { FollowUp, ResponseDecision, Route, SentRequest } from '../../src/routes/define-route.ts';
import { runRoute } from '../../src/routes/run-route.ts';

/** A store of values in memory, as a run's is. */
export function memoryValues(): NonNullable<ApiContext['values']> & { all: Map<string, unknown> } {
  const all = new Map<string, unknown>();
  return {
    all,
    get: async <T>(key: string) => (all.get(key) as T | undefined) ?? null,
    set: async (key, value) => void all.set(key, structuredClone(value)),
    entries: async <T>(prefix: string) =>
      [...all].filter(([key]) => key.startsWith(prefix)).toSorted() as [string, T][],
  };
}

export type Answer = { status?: number; headers?: Record<string, string>; body?: unknown };

export type Failure = { url: string; label: string; code: string; message: string };

export type Played = {
  records: Record<string, Record<string, unknown>[]>;
  invalid: { label: string; issues: readonly string[]; record: unknown }[];
  failures: Failure[];
  skipped: Record<string, number>;
  /** Requests sent, in order: method and URL as sent. */
  sent: string[];
  /** Most requests of one label that were pending at once. */
  mostPending: number;
  finished: FinishedResource[];
  /** Everything that would have been stored, as one text: to look for secrets in. */
  stored: string;
  said: string[];
  limited: number;
};

export type PlayOptions = {
  /** Answers instead of the network. */
  answer?: (request: SentRequest) => Answer | Promise<Answer>;
  env?: Record<string, string>;
  baseDir?: string;
  values?: ReturnType<typeof memoryValues>;
  clock?: Clock;
  samplePages?: number;
  maxRetries?: number;
  schemas?: NonNullable<ApiContext['schemas']>;
  /** Stops after so many requests, as a crash would; the queue is what it was. */
  crashAfter?: number;
  queue?: Queue;
};

export type Queue = { known: Set<string>; pending: Stored[]; records: Map<string, Record<string, unknown>[]> };
type Stored = { key: string; url: string; label: string; json: string };

export function newQueue(): Queue {
  return { known: new Set(), pending: [], records: new Map() };
}

export function recordingLog(said: string[]): Log {
  const at = (level: string) => (message: string) => void said.push(`${level}: ${message}`);
  return { debug() {}, info: at('info'), warn: at('warn'), error: at('error') };
}

/** Compiles an api and plays the crawl loop: queue in memory, one request after the other, retries at once. */
export async function playCrawl(document: ApiDocument, options: PlayOptions = {}): Promise<Played> {
  const said: string[] = [];
  const values = options.values ?? memoryValues();
  const files = systemFiles(options.baseDir ?? import.meta.dirname, options.env ?? {});
  const send = senderOf(options);
  const api = await compileApi(apiSchema.parse(document), {
    ...files,
    importModule: moduleImporter(files.pathOf),
    fetch: async (request) => {
      const { status, headers, text } = await send({ ...request, payload: request.body });
      return { status, headers, body: text };
    },
    clock: options.clock ?? systemClock,
    log: recordingLog(said),
    values,
    samplePages: options.samplePages ?? null,
    ...(options.schemas === undefined ? {} : { schemas: options.schemas }),
  });
  return new Play(api, { options, values, said, send }).run();
}

type Reply = { status: number; headers: Record<string, string>; text: string };
type Send = (request: SentRequest) => Promise<Reply>;

function senderOf({ answer }: PlayOptions): Send {
  if (answer === undefined) return fetchReply;
  return async (request) => {
    const { status = 200, headers = {}, body } = await answer(request);
    return { status, headers, text: typeof body === 'string' ? body : JSON.stringify(body ?? null) };
  };
}

async function fetchReply({ url, method, headers, payload }: SentRequest): Promise<Reply> {
  const response = await fetch(url, { method, headers, body: payload });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

class Play {
  readonly #api: CompiledApi;
  readonly #routes: Map<string, Route>;
  readonly #options: PlayOptions;
  readonly #values: ReturnType<typeof memoryValues>;
  readonly #send: Send;
  readonly #queue: Queue;
  readonly #played: Played;
  readonly #stored: string[] = [];

  constructor(
    api: CompiledApi,
    parts: { options: PlayOptions; values: ReturnType<typeof memoryValues>; said: string[]; send: Send },
  ) {
    this.#api = api;
    this.#routes = new Map(api.routes.map((route) => [route.label, route]));
    this.#options = parts.options;
    this.#values = parts.values;
    this.#send = parts.send;
    this.#queue = parts.options.queue ?? newQueue();
    this.#played = {
      records: {},
      invalid: [],
      failures: [],
      skipped: {},
      sent: [],
      mostPending: 0,
      finished: [],
      stored: '',
      said: parts.said,
      limited: 0,
    };
  }

  async run(): Promise<Played> {
    for (const route of this.#api.routes) {
      for await (const seed of route.seeds?.({ practiceApiUrl: null }) ?? []) this.#add(seed);
    }
    const crashAfter = this.#options.crashAfter ?? Number.POSITIVE_INFINITY;
    while (this.#queue.pending.length > 0 && this.#played.sent.length < crashAfter) {
      this.#played.mostPending = Math.max(this.#played.mostPending, this.#queue.pending.length);
      const stored = this.#queue.pending[0]!;
      await this.#handle(stored);
      this.#queue.pending.splice(this.#queue.pending.indexOf(stored), 1);
    }
    const failures = new Map<string, number>();
    for (const { label } of this.#played.failures) failures.set(label, (failures.get(label) ?? 0) + 1);
    if (this.#queue.pending.length === 0) this.#played.finished = await this.#api.finish(failures);
    this.#played.records = Object.fromEntries(this.#queue.records);
    this.#played.stored = [...this.#stored, JSON.stringify([...this.#values.all]), ...this.#played.said].join('\n');
    return this.#played;
  }

  #add(followUp: FollowUp): void {
    const key = followUp.uniqueKey ?? followUp.url;
    if (this.#queue.known.has(key)) return;
    this.#queue.known.add(key);
    const json = JSON.stringify(followUp);
    this.#stored.push(json);
    this.#queue.pending.push({ key, url: new URL(followUp.url).href, label: followUp.label!, json });
  }

  async #handle(stored: Stored): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#attempt(stored).catch((error: unknown) => this.#settle(stored, error, attempt));
      if (outcome === 'done') return;
      // A real crawl leaves the wait to the governor; here, long enough that a limit of a few requests a second lets go.
      if (outcome === 'limited') await sleep(LIMITED_WAIT_MS);
      if (attempt > 50) throw new Error(`${stored.url} goes round and round`);
    }
  }

  #settle(stored: Stored, error: unknown, attempt: number): Outcome {
    if (!(error instanceof CrawlError)) throw error;
    if (error.recovery === 'wait') return 'again';
    if (error.recovery === 'retry' && attempt < (this.#options.maxRetries ?? 2)) return 'again';
    const failure = { url: stored.url, label: stored.label, code: error.code, message: error.message };
    this.#played.failures.push(failure);
    this.#stored.push(JSON.stringify(failure));
    return 'done';
  }

  async #attempt(stored: Stored): Promise<Outcome> {
    const route = this.#routes.get(stored.label)!;
    const { payload = null, headers = {}, userData = {}, method = 'GET' } = JSON.parse(stored.json) as FollowUp;
    const request: SentRequest = { url: stored.url, method, headers, payload };
    const prepared = await route.prepare!({ ...request, headers: { ...headers } }, { userData, signal: undefined });
    this.#played.sent.push(`${method} ${prepared.request.url}`);
    const reply = await this.#send(prepared.request);
    const decision = await route.judge!({
      url: prepared.request.url,
      status: reply.status,
      headers: reply.headers,
      text: () => reply.text,
      body: () => parsed(reply.text),
      request,
      userData,
      ticket: prepared.ticket,
    });
    return this.#decide(decision, { stored, route, reply, request, userData, url: prepared.request.url });
  }

  #decide(decision: ResponseDecision, facts: Facts): Outcome {
    const { status } = facts.reply;
    switch (decision.kind) {
      case 'usual':
        if (status >= 400) throw new StatusError(status);
        return this.#extract(facts);
      case 'accept':
        return this.#extract(facts);
      case 'done':
        if (decision.skipReason !== null)
          this.#played.skipped[decision.skipReason] = (this.#played.skipped[decision.skipReason] ?? 0) + 1;
        for (const request of decision.requests) this.#add(request);
        return 'done';
      case 'limited':
        this.#played.limited++;
        return 'limited';
      case 'fail':
      case 'retry':
        throw decision.error;
    }
  }

  #extract({ stored, route, reply, request, userData, url }: Facts): 'done' {
    const page = { url, status: reply.status, headers: reply.headers, body: parsed(reply.text), userData, request };
    const result = runRoute(route, page);
    for (const { dataset, record } of result.records) this.#addRecord(dataset, record as Record<string, unknown>);
    for (const { issues, record } of result.invalid) this.#played.invalid.push({ label: stored.label, issues, record });
    for (const followUp of result.requests) this.#add(followUp);
    for (const { key, value } of result.values) this.#values.all.set(key, structuredClone(value));
    return 'done';
  }

  #addRecord(dataset: string, record: Record<string, unknown>): void {
    const list = this.#queue.records.get(dataset) ?? [];
    list.push(record);
    this.#queue.records.set(dataset, list);
  }
}

type Outcome = 'done' | 'again' | 'limited';

const LIMITED_WAIT_MS = 50;

type Facts = {
  stored: Stored;
  route: Route;
  reply: Reply;
  request: SentRequest;
  userData: Record<string, unknown>;
  url: string;
};

class StatusError extends CrawlError {
  readonly code: string;
  readonly recovery;
  constructor(status: number) {
    super(`answered ${status}`);
    this.code = `HTTP_${status}`;
    this.recovery = status === 429 ? ('wait' as const) : status >= 500 ? ('retry' as const) : ('skip' as const);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
