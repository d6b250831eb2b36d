import type { Socket } from 'node:net';
import { Client } from 'undici';
import type { Exchange } from './exchange.ts';
import type { HttpError } from './http-error.ts';
import type { OpenedSocket } from './open-socket.ts';

/** What a connection tells its pool. */
export interface ConnectionOwner {
  /** Makes the connection anew, for requests that undici still holds when it drops. */
  reconnect(): Promise<OpenedSocket>;
  /** The socket is gone, or the connection was retired: it takes no more requests. */
  onGone(connection: Connection): void;
  /** An HTTP/2 connection has room again. */
  onRoom(connection: Connection): void;
  onSent(connection: Connection): void;
  onHttp2Outcome(connection: Connection, error: Error | null): void;
  resend(exchange: Exchange): void;
  /** The failure that a status means when the proxy itself sent it. */
  refusal(status: number): HttpError | undefined;
}

// Longest idle time where the server names none; common servers close after 5 to 75 s and say so.
const KEEP_ALIVE_MS = 30_000;
// Closed so long before the server would: the request must not meet its close on the way.
const KEEP_ALIVE_MARGIN_MS = 1_000;
/** Longest headers of a response; most servers allow 8 to 32 KiB. */
export const MAX_HEADER_BYTES = 64 * 1024;
/** Most requests at once over one HTTP/2 connection, even if the server allows more (Node's servers: 2^32-1). */
export const MAX_STREAMS = 100;

/** One connection: a socket that we opened, driven by an undici client of its own. */
export class Connection {
  readonly #client: Client;
  readonly #owner: ConnectionOwner;
  #opened: OpenedSocket;
  #handedOver = false;
  #uses = 0;
  /** Over HTTP/2: the server has not yet said how many streams it takes. */
  awaitsSettings: boolean;
  /** Its loss has been counted, however many streams were on it. */
  isLossCounted = false;
  retired = false;
  /** The response says `connection: close`. */
  closesAfterResponse = false;
  /** An HTTP/2 connection with all its streams taken. */
  full = false;

  constructor(options: { origin: string; opened: OpenedSocket; owner: ConnectionOwner }) {
    this.#opened = options.opened;
    this.#owner = options.owner;
    this.awaitsSettings = options.opened.protocol === 'h2';
    this.#client = new Client(options.origin, {
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      // Our own deadlines are exact to some ms and cost no timer a request.
      headersTimeout: 0,
      bodyTimeout: 0,
      h2Options: { maxConcurrentStreams: MAX_STREAMS },
      connect: (_options, callback) => this.#connect(callback),
    });
    this.#client.on('disconnect', () => this.retire());
    this.#client.on('drain', () => this.#onDrain());
    this.#watch(options.opened.socket);
  }

  get protocol(): 'h1' | 'h2' {
    return this.#opened.protocol;
  }

  /** Times of its opening, ms. */
  get openingTimings(): OpenedSocket['timings'] {
    return this.#opened.timings;
  }

  /** Whether another request can be given to it now. */
  get isUsable(): boolean {
    return !this.retired && !this.closesAfterResponse && !this.#opened.socket.destroyed;
  }

  /** Gives it a request; `full` tells afterwards whether there is room for another. */
  send(exchange: Exchange): void {
    exchange.attach(this);
    const hasRoom = this.#client.dispatch(exchange.dispatch, exchange);
    if (!hasRoom && this.protocol === 'h2') this.full = true;
  }

  /** @returns whether it has carried a request before this one */
  countUse(): boolean {
    this.#owner.onSent(this);
    this.#uses += 1;
    return this.#uses > 1;
  }

  countHttp2Success(): void {
    this.#owner.onHttp2Outcome(this, null);
  }

  countHttp2Failure(error: Error): void {
    this.#owner.onHttp2Outcome(this, error);
  }

  resend(exchange: Exchange): void {
    this.#owner.resend(exchange);
  }

  refusal(status: number): HttpError | undefined {
    return this.#owner.refusal(status);
  }

  /** Takes it out of use; what is under way finishes. */
  retire(): void {
    if (this.retired) return;
    this.retired = true;
    this.#client.close().catch(() => {});
    if (!this.#handedOver) this.#opened.socket.destroy();
    this.#owner.onGone(this);
  }

  async destroy(reason: Error): Promise<void> {
    this.retired = true;
    this.#opened.socket.destroy();
    await this.#client.destroy(reason);
  }

  // undici's first drain comes with the server's settings, the later ones as streams end.
  #onDrain(): void {
    this.awaitsSettings = false;
    if (!this.full) return;
    this.full = false;
    this.#owner.onRoom(this);
  }

  #connect(callback: (...args: [null, Socket] | [Error, null]) => void): void {
    if (!this.#handedOver) {
      this.#handedOver = true;
      this.#opened.socket.ref();
      // undici does not look for work again when the callback comes within the call.
      queueMicrotask(() => callback(null, this.#opened.socket));
      return;
    }
    this.#owner.reconnect().then(
      (opened) => {
        this.#opened = opened;
        this.#uses = 0;
        opened.socket.on('error', ignore);
        callback(null, opened.socket);
      },
      (error: Error) => callback(error, null),
    );
  }

  // Until undici takes the socket with the first request, nobody else listens to it.
  #watch(socket: Socket): void {
    socket.on('error', ignore);
    socket.once('close', () => {
      if (!this.#handedOver) this.retire();
    });
    socket.unref();
  }
}

// Errors of a socket reach its requests through undici, or show as its close.
function ignore(): void {}
