import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** One call of the API as it came in. */
export type Call = { method: string; path: string; status: number };
export type FakeQueued = {
  id: string;
  uniqueKey: string;
  url: string;
  method: string;
  handledAt?: string;
  userData?: object;
};
export type RunState = { statusMessage?: string; isStatusMessageTerminal?: boolean; statusMessageLevel?: string };

type Answer = { status: number; body?: unknown; raw?: { type: string; bytes: Buffer } };
type Asked = { method: string; path: string; query: URLSearchParams; body: Buffer };
type Handler = (match: readonly string[], asked: Asked) => Answer;

const TOKEN = 'apify_api_token_of_the_test';
const RUN_ID = 'run1';
const WEBSOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The part of Apify's API (v2) and of its events that an Actor run uses, in memory; it outlives the Actor's processes. */
export class FakeApify {
  readonly calls: Call[] = [];
  readonly statuses: RunState[] = [];
  readonly datasets = new Map<string, unknown[]>([['dataset1', []]]);
  readonly records = new Map<string, { type: string; bytes: Buffer }>();
  readonly queued = new Map<string, FakeQueued>();
  /** Where its containers have their files. */
  readonly workdir = join(tmpdir(), `millrace-actor-${randomBytes(6).toString('hex')}`);
  reboots = 0;
  /** Which calls fail instead of being done; counted from 1. Asked once for each. */
  faultOf: (count: number) => 429 | 502 | null = () => null;
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  readonly #sockets = new Set<Socket>();
  readonly #listeners = new Set<Socket>();
  #count = 0;

  static async open(): Promise<FakeApify> {
    const fake = new FakeApify();
    fake.#server.on('connection', (socket) => {
      fake.#sockets.add(socket);
      socket.once('close', () => fake.#sockets.delete(socket));
    });
    fake.#server.on('upgrade', (request, socket) => fake.#subscribe(request, socket as Socket));
    fake.#server.listen(0, '127.0.0.1');
    await once(fake.#server, 'listening');
    return fake;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** What the platform sets for an Actor's process. */
  get env(): Record<string, string> {
    const host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return {
      APIFY_IS_AT_HOME: '1',
      APIFY_TOKEN: TOKEN,
      APIFY_API_BASE_URL: `http://${host}`,
      ACTOR_EVENTS_WEBSOCKET_URL: `ws://${host}/events`,
      ACTOR_RUN_ID: RUN_ID,
      ACTOR_DEFAULT_DATASET_ID: 'dataset1',
      ACTOR_DEFAULT_KEY_VALUE_STORE_ID: 'store1',
      ACTOR_DEFAULT_REQUEST_QUEUE_ID: 'queue1',
      ACTOR_MEMORY_MBYTES: '1024',
    };
  }

  set input(input: unknown) {
    this.records.set('INPUT', { type: 'application/json', bytes: Buffer.from(JSON.stringify(input)) });
  }

  /** Puts a request into the queue, as another program may. */
  add(request: Omit<FakeQueued, 'id'>): void {
    const id = requestIdOf(request.uniqueKey);
    this.queued.set(id, { ...request, id });
  }

  record(key: string): unknown {
    const record = this.records.get(key);
    return record && JSON.parse(record.bytes.toString());
  }

  /** Sends an event to every process that listens. */
  emit(name: string, data: unknown = {}): void {
    for (const socket of this.#listeners) socket.write(textFrame(JSON.stringify({ name, data })));
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  callsTo(part: string): Call[] {
    return this.calls.filter(({ path }) => path.includes(part));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, searchParams } = new URL(request.url!, 'http://fake');
    const method = request.method!;
    const body = decoded(Buffer.concat(chunks), request.headers['content-encoding']);
    const answer = this.#answerTo(request, { method, path: pathname, query: searchParams, body });
    this.calls.push({ method, path: pathname, status: answer.status });
    const { type, bytes } = answer.raw ?? {
      type: 'application/json',
      bytes: Buffer.from(JSON.stringify(answer.body ?? {})),
    };
    response.writeHead(answer.status, { 'content-type': type }).end(answer.status === 204 ? undefined : bytes);
  }

  #answerTo({ headers }: IncomingMessage, asked: Asked): Answer {
    if (headers.authorization !== `Bearer ${TOKEN}`) return failure(401, 'user-or-token-not-found');
    this.#count += 1;
    const fault = this.faultOf(this.#count);
    if (fault === 429) return failure(429, 'rate-limit-exceeded');
    if (fault === 502) return { status: 502, raw: { type: 'text/html', bytes: Buffer.from('<h1>Bad Gateway</h1>') } };
    for (const [method, pattern, handler] of this.#routes) {
      const match = method === asked.method ? pattern.exec(asked.path) : null;
      if (match !== null) return handler(match.slice(1), asked);
    }
    return failure(404, 'page-not-found');
  }

  readonly #routes: readonly (readonly [string, RegExp, Handler])[] = [
    ['GET', /^\/v2\/key-value-stores\/store1$/, () => ({ status: 200, body: { data: { id: 'store1' } } })],
    ['GET', /^\/v2\/key-value-stores\/store1\/records\/([^/]+)$/, ([key]) => this.#getRecord(key!)],
    [
      'PUT',
      /^\/v2\/key-value-stores\/store1\/records\/([^/]+)$/,
      ([key], { body }) => {
        if (body.length > 9_000_000) return failure(413, 'request-too-large');
        const type = key === 'REPORT' ? 'text/html' : 'application/json';
        this.records.set(key!, { type, bytes: body });
        return { status: 201, body: {} };
      },
    ],
    [
      'DELETE',
      /^\/v2\/key-value-stores\/store1\/records\/([^/]+)$/,
      ([key]) => {
        this.records.delete(key!);
        return { status: 204 };
      },
    ],
    [
      'POST',
      /^\/v2\/datasets$/,
      () => {
        const id = `dataset${this.datasets.size + 1}`;
        this.datasets.set(id, []);
        return { status: 201, body: { data: { id } } };
      },
    ],
    [
      'GET',
      /^\/v2\/datasets\/([^/]+)$/,
      ([id]) => ({ status: 200, body: { data: { id, itemCount: this.datasets.get(id!)!.length } } }),
    ],
    ['POST', /^\/v2\/datasets\/([^/]+)\/items$/, ([id], { body }) => this.#pushItems(id!, body)],
    [
      'GET',
      /^\/v2\/actor-runs\/run1$/,
      () => ({ status: 200, body: { data: { id: RUN_ID, options: { memoryMbytes: 1024 }, ...this.statuses.at(-1) } } }),
    ],
    [
      'PUT',
      /^\/v2\/actor-runs\/run1$/,
      (_, { body }) => {
        this.statuses.push(JSON.parse(body.toString()) as RunState);
        return { status: 200, body: { data: { id: RUN_ID } } };
      },
    ],
    [
      'POST',
      /^\/v2\/actor-runs\/run1\/reboot$/,
      () => {
        this.reboots += 1;
        return { status: 200, body: { data: { id: RUN_ID } } };
      },
    ],
    ['POST', /^\/v2\/request-queues\/queue1\/requests\/batch$/, (_, { body }) => this.#addRequests(body)],
    ['PUT', /^\/v2\/request-queues\/queue1\/requests\/([^/]+)$/, ([id], { body }) => this.#updateRequest(id!, body)],
    ['GET', /^\/v2\/request-queues\/queue1\/requests$/, (_, { query }) => this.#listRequests(query)],
  ];

  #getRecord(key: string): Answer {
    const record = this.records.get(key);
    return record === undefined ? failure(404, 'record-not-found') : { status: 200, raw: record };
  }

  #pushItems(id: string, body: Buffer): Answer {
    const items: unknown = JSON.parse(body.toString());
    const isFine = Array.isArray(items) && items.every((item) => typeof item === 'object' && item !== null);
    if (!isFine || body.length > 9_000_000) return failure(400, 'invalid-items');
    this.datasets.get(id)!.push(...items);
    return { status: 201, body: {} };
  }

  #addRequests(body: Buffer): Answer {
    const requests = JSON.parse(body.toString()) as Omit<FakeQueued, 'id'>[];
    if (requests.length > 25) return failure(400, 'too-many-requests-in-batch');
    const processedRequests = requests.map((request) => {
      const id = requestIdOf(request.uniqueKey);
      const before = this.queued.get(id);
      if (before === undefined) this.queued.set(id, { ...request, id });
      const wasAlreadyHandled = before?.handledAt !== undefined;
      return {
        requestId: id,
        uniqueKey: request.uniqueKey,
        wasAlreadyPresent: before !== undefined,
        wasAlreadyHandled,
      };
    });
    return { status: 201, body: { data: { processedRequests, unprocessedRequests: [] } } };
  }

  #updateRequest(id: string, body: Buffer): Answer {
    const request = JSON.parse(body.toString()) as FakeQueued;
    if (request.id !== id || id !== requestIdOf(request.uniqueKey)) return failure(400, 'invalid-request-id');
    this.queued.set(id, request);
    return { status: 200, body: { data: { requestId: id, wasAlreadyPresent: true, wasAlreadyHandled: false } } };
  }

  #listRequests(query: URLSearchParams): Answer {
    const start = Number(query.get('cursor') ?? 0);
    const limit = Math.min(Number(query.get('limit') ?? 1_000), 100);
    const all = [...this.queued.values()];
    const nextCursor = start + limit < all.length ? String(start + limit) : undefined;
    return { status: 200, body: { data: { items: all.slice(start, start + limit), limit, nextCursor } } };
  }

  #subscribe({ headers }: IncomingMessage, socket: Socket): void {
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${WEBSOCKET_GUID}`).digest('base64');
    const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
    socket.write(`${[...head, `Sec-WebSocket-Accept: ${accept}`].join('\r\n')}\r\n\r\n`);
    this.#listeners.add(socket);
    socket.on('error', () => {});
    // Whatever the client says is that it closes.
    socket.on('data', () => socket.end());
    socket.once('close', () => this.#listeners.delete(socket));
  }
}

function decoded(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return gunzipSync(body);
  return encoding === 'br' ? brotliDecompressSync(body) : body;
}

function failure(status: number, type: string): Answer {
  return { status, body: { error: { type, message: `${type} (${randomBytes(2).toString('hex')})` } } };
}

function requestIdOf(uniqueKey: string): string {
  const hash = createHash('sha256').update(uniqueKey).digest('base64');
  return hash.replaceAll(/[+/=]/g, '').slice(0, 15);
}

/** A text message of less than 64 KiB from a server (RFC 6455 5.2). */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = payload.length < 126 ? [0x81, payload.length] : [0x81, 126, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from(head), payload]);
}
