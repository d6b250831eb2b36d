import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../core/clock.ts';
import { BodyDecoder, unsupportedCoding } from './body-decoder.ts';
import type { HttpRequest, HttpResponse, WireTimings } from './client.ts';
import { readCodings } from './content-coding.ts';
import type { ExchangeStage, Timed, TimeLimit } from './deadlines.ts';
import { exchangeError, maySendAgain, timeoutError } from './exchange-error.ts';
import { HttpError } from './http-error.ts';
import { announcesMore, tooLarge } from './too-large.ts';

/** The client's side of an exchange. */
export interface GotExchangeOwner {
  /** @returns the times of the opening of this connection, ms; null when it has carried a request before */
  countUse(request: ClientRequest): WireOpening | null;
  /** @returns the failure that a status means when the proxy itself sent it */
  refusal(status: number): HttpError | undefined;
  onSettled(exchange: GotExchange): void;
}

export type WireOpening = Pick<WireTimings, 'dns' | 'connect' | 'tls'>;

const REUSED: WireOpening = { dns: 0, connect: 0, tls: 0 };

/** One request and its response by got-scraping. */
export class GotExchange implements Timed {
  readonly request: HttpRequest;
  readonly host: string;
  readonly startedAtMs: number;
  readonly signal: AbortSignal | undefined;
  stage: ExchangeStage = 'waiting';
  bytesReceived = 0;
  bytesSeen = 0;
  paused = false;
  slot = -1;
  inLine = false;
  quietSinceMs: number;
  wasSent = false;

  readonly #clock: Clock;
  readonly #owner: GotExchangeOwner;
  readonly #start: (exchange: GotExchange) => void;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  #stream: Duplex | null = null;
  #resent = false;
  #opening: WireOpening | null = REUSED;
  #sentAtMs = 0;
  #firstByteAtMs = 0;
  #response: IncomingMessage | null = null;
  #chunks: Buffer[] = [];
  #decoder: BodyDecoder | null = null;

  constructor(options: {
    request: HttpRequest;
    host: string;
    clock: Clock;
    signal: AbortSignal | undefined;
    owner: GotExchangeOwner;
    /** Makes a stream of got, and has it followed. */
    start: (exchange: GotExchange) => void;
    resolve: (response: HttpResponse) => void;
    reject: (reason: unknown) => void;
  }) {
    this.request = options.request;
    this.host = options.host;
    this.signal = options.signal;
    this.#clock = options.clock;
    this.#owner = options.owner;
    this.#start = options.start;
    this.#resolve = options.resolve;
    this.#reject = options.reject;
    this.startedAtMs = this.quietSinceMs = options.clock.nowMs();
  }

  start(): void {
    this.#start(this);
  }

  /** Follows a stream of got, from its start to its end. */
  follow(stream: Duplex): void {
    this.#stream = stream;
    stream.on('request', (request: ClientRequest) => request.once('socket', () => this.#onSent(request)));
    stream.on('response', (response: IncomingMessage) => this.#onResponse(response));
    stream.on('data', (chunk: Buffer) => this.#onData(chunk));
    stream.on('end', () => this.#onEnd());
    stream.on('error', (error) => this.#onError(rootCause(error)));
  }

  fail(reason: unknown): void {
    if (this.stage === 'settled') return;
    this.#settle();
    this.#decoder?.destroy();
    this.#stream?.destroy();
    this.#reject(reason);
  }

  onTimeout(limit: TimeLimit): void {
    this.fail(timeoutError(limit, this));
  }

  #mayResend(error: unknown): boolean {
    if (this.#resent || !this.wasSent || this.#opening !== null || this.#response !== null) return false;
    return maySendAgain(this.request.method, error);
  }

  #resend(): void {
    this.#resent = true;
    this.stage = 'waiting';
    this.start();
  }

  #onSent(request: ClientRequest): void {
    if (this.stage === 'settled') return;
    this.#opening = this.#owner.countUse(request);
    this.wasSent = true;
    this.stage = 'sent';
    this.#sentAtMs = this.quietSinceMs = this.#clock.nowMs();
  }

  #onResponse(response: IncomingMessage): void {
    if (this.stage === 'settled') return;
    this.#response = response;
    this.#firstByteAtMs = this.quietSinceMs = this.#clock.nowMs();
    this.stage = 'body';
    const refusal = this.#owner.refusal(response.statusCode ?? 0);
    const coding = response.headers['content-encoding'];
    if (refusal) this.fail(refusal);
    else if (coding !== undefined) this.#decode(coding);
    else if (announcesMore(response.headers, this.request)) this.fail(tooLarge(this.host, this.request.maxBodyBytes));
  }

  #decode(header: string): void {
    const codings = readCodings(header);
    if (typeof codings === 'string') {
      this.fail(unsupportedCoding(this.host, codings));
    } else if (codings.length > 0) {
      this.#decoder = new BodyDecoder({
        codings,
        host: this.host,
        maxBytes: this.request.maxBodyBytes,
        onDrain: () => this.#resume(),
        onError: (error) => this.fail(error),
      });
    }
  }

  #onData(chunk: Buffer): void {
    if (this.stage === 'settled') return;
    this.bytesReceived += chunk.length;
    if (this.#decoder) {
      if (this.#decoder.write(chunk)) return;
      this.paused = true;
      this.#stream?.pause();
    } else if (this.bytesReceived > this.request.maxBodyBytes) {
      this.fail(tooLarge(this.host, this.request.maxBodyBytes));
    } else {
      this.#chunks.push(chunk);
    }
  }

  #resume(): void {
    this.paused = false;
    if (this.stage === 'body') this.#stream?.resume();
  }

  #onEnd(): void {
    if (this.stage === 'settled' || !this.#response) return;
    const endedAtMs = this.#clock.nowMs();
    this.paused = true;
    if (this.#decoder) this.#decoder.end((body) => this.#succeed(body, endedAtMs));
    else this.#succeed(Buffer.concat(this.#chunks), endedAtMs);
  }

  #succeed(body: Buffer, endedAtMs: number): void {
    if (this.stage === 'settled') return;
    const response = this.#response!;
    this.#settle();
    this.#resolve({
      status: response.statusCode ?? 0,
      headers: response.headers,
      body,
      wireBytes: this.bytesReceived,
      httpVersion: response.httpVersionMajor === 2 ? '2' : '1.1',
      timings: this.#timings(endedAtMs),
      reusedConnection: this.#opening === null,
    });
  }

  #onError(error: unknown): void {
    if (this.stage === 'settled') return;
    if (this.#mayResend(error)) {
      this.#resend();
      return;
    }
    this.#settle();
    this.#decoder?.destroy();
    const responseStarted = this.#response !== null;
    const { host, wasSent, bytesReceived } = this;
    const timings = responseStarted ? this.#timings(this.#clock.nowMs()) : {};
    this.#reject(exchangeError(error, { host, wasSent, responseStarted, bytesReceived, timings }));
  }

  #timings(endedAtMs: number): WireTimings {
    return {
      ...(this.#opening ?? REUSED),
      firstByte: this.#firstByteAtMs - this.#sentAtMs,
      download: endedAtMs - this.#firstByteAtMs,
    };
  }

  #settle(): void {
    this.stage = 'settled';
    this.#owner.onSettled(this);
  }
}

// got wraps what happened, once or twice.
function rootCause(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && !(cause instanceof HttpError) && cause.cause instanceof Error) cause = cause.cause;
  return cause;
}
