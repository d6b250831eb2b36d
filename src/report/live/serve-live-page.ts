import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { EnvironmentError, messageOf } from '../../core/errors.ts';
import type { Ports } from '../../core/ports.ts';
import { renderMain, renderReport } from '../html/page.ts';
import type { ReportData } from '../html/report-data.ts';
import { isOwnHost } from './own-host.ts';

export type LivePageOptions = {
  /** Where to listen; 127.0.0.1 keeps it to this machine. */
  address: string;
  /** 0 = any free one. */
  port: number;
  /** Host names besides addresses and localhost that the page may be asked for by. */
  hostNames?: readonly string[];
  ports: Pick<Ports, 'clock' | 'log'>;
};

/** What the page shows at this moment. */
export type LiveSource = () => Promise<ReportData>;

const EVENTS_PATH = '/events';
const EVERY_MS = 1_000;
// Drawing the page takes at most this share of the crawl's time, as long as a reader need not wait for too long.
const MOST_SHARE = 0.05;
const LEAST_OFTEN_MS = 10_000;
// Within so long a browser whose connection broke asks again.
const RECONNECT_MS = 2_000;
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'content-security-policy': "frame-ancestors 'none'",
};

/** The report page of a crawl under way: drawn anew about once a second, for as long as someone looks at it. */
export class LivePage {
  readonly url: string;
  readonly #server: Server;
  readonly #options: LivePageOptions;
  readonly #readers = new Set<ServerResponse>();
  readonly #begun = Promise.withResolvers<LiveSource>();
  #looked: { atMs: number; data: ReportData } | null = null;
  #cancel: (() => void) | null = null;

  constructor(server: Server, options: LivePageOptions) {
    this.#server = server;
    this.#options = options;
    const { address, port } = server.address() as AddressInfo;
    this.url = `http://${isIPv6(address) ? `[${address}]` : address}:${port}/`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch((error: unknown) => this.#failed(error, response));
    });
  }

  /** Tells where the contents come from. Whoever has asked for the page before has waited for it. */
  watch(source: LiveSource): void {
    this.#begun.resolve(source);
  }

  /** Shows the last contents to who is looking, and tells them that there will be no more. */
  async end(data: ReportData, farewell: string): Promise<void> {
    this.#stop();
    const text = `${eventText('message', renderMain(data))}${eventText('end', farewell)}`;
    const flushed = [...this.#readers].map((reader) => new Promise((done) => reader.once('close', done).end(text)));
    // A reader that has stopped reading is not waited for.
    const { clock } = this.#options.ports;
    await Promise.race([Promise.all(flushed), new Promise<void>((done) => clock.schedule(EVERY_MS, done))]);
  }

  /** Stops listening; who still looks at the page is told by the broken connection. */
  async close(): Promise<void> {
    this.#stop();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0];
    if (!isOwnHost(request.headers.host, this.#options.hostNames))
      refuse(response, { status: 421, text: 'This page is asked for by its address, or as localhost.' });
    else if (request.method !== 'GET') refuse(response, { status: 405, text: 'This page is only there to be read.' });
    else if (path === EVENTS_PATH) this.#addReader(response);
    else if (path !== '/') refuse(response, { status: 404, text: 'The page is at /.' });
    else {
      const page = renderReport(await this.#data(), { liveUrl: EVENTS_PATH });
      response.writeHead(200, { ...HEADERS, 'content-type': 'text/html; charset=utf-8' }).end(page);
    }
  }

  #addReader(response: ServerResponse): void {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    this.#readers.add(response);
    response.once('close', () => {
      this.#readers.delete(response);
      if (this.#readers.size === 0) this.#stop();
    });
    if (this.#cancel === null) this.#arm(0);
  }

  #arm(delayMs: number): void {
    this.#cancel?.();
    this.#cancel = this.#options.ports.clock.schedule(delayMs, () => {
      this.#tell().catch((error: unknown) => {
        this.#options.ports.log.warn(`The live page cannot be drawn: ${messageOf(error)}`);
        // Their browsers ask again in a moment.
        for (const reader of this.#readers) reader.destroy();
      });
    });
  }

  async #tell(): Promise<void> {
    const { clock } = this.#options.ports;
    await this.#begun.promise;
    const startedMs = clock.nowMs();
    const text = eventText('message', renderMain(await this.#data()));
    const tookMs = clock.nowMs() - startedMs;
    if (this.#readers.size === 0 || this.#cancel === null) return;
    // Who has not read the last one yet gets the next.
    for (const reader of this.#readers) if (!reader.writableNeedDrain) reader.write(text);
    this.#arm(Math.min(LEAST_OFTEN_MS, Math.max(EVERY_MS, tookMs / MOST_SHARE)));
  }

  /** Several who look at it within a second see the same. */
  async #data(): Promise<ReportData> {
    const source = await this.#begun.promise;
    const atMs = this.#options.ports.clock.nowMs();
    if (this.#looked !== null && atMs - this.#looked.atMs < EVERY_MS / 2) return this.#looked.data;
    const data = await source();
    this.#looked = { atMs, data };
    return data;
  }

  #stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #failed(error: unknown, response: ServerResponse): void {
    this.#options.ports.log.warn(`The live page cannot be drawn: ${messageOf(error)}`);
    if (response.headersSent) response.destroy();
    else refuse(response, { status: 500, text: 'The page cannot be drawn at the moment.' });
  }
}

/**
 * Starts listening for who wants to look at the crawl.
 * @throws EnvironmentError when the port is taken, or the address is none of this machine
 */
export async function serveLivePage(options: LivePageOptions): Promise<LivePage> {
  const { address, port } = options;
  const server = createServer();
  server.listen({ host: address, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new EnvironmentError(whyNot(error, options), { cause: error });
  }
  // A page that is still open keeps no crawl from ending.
  server.unref();
  return new LivePage(server, options);
}

function whyNot(error: unknown, { address, port }: LivePageOptions): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'EADDRINUSE')
    return `--ui: port ${port} of ${address} is taken by another program. Give another one, or none: --ui alone takes a free one.`;
  if (code === 'EACCES') return `--ui: port ${port} may not be listened on by this user. Take one from 1024 on.`;
  return `--ui: ${address} cannot be listened on: ${messageOf(error)}`;
}

function refuse(response: ServerResponse, { status, text }: { status: number; text: string }): void {
  response.writeHead(status, { ...HEADERS, 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

function eventText(event: string, data: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `event: ${event}\n${lines.join('')}\n`;
}
