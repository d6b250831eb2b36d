import type { Dispatcher } from 'undici';
import type { Clock } from '../core/clock.ts';
import type { ResponseHeaders } from '../core/headers.ts';
import { BodyDecoder, unsupportedCoding } from './body-decoder.ts';
import type { HttpRequest, HttpResponse, WireTimings } from './client.ts';
import type { Connection } from './connection.ts';
import { readCodings } from './content-coding.ts';
import type { Deadlines, ExchangeStage, Timed, TimeLimit } from './deadlines.ts';
import { exchangeError, maySendAgain, timeoutError } from './exchange-error.ts';
import type { HttpError } from './http-error.ts';
import type { OriginPool } from './origin-pool.ts';
import { announcesMore, tooLarge } from './too-large.ts';

type Controller = Dispatcher.DispatchController;

export type ExchangeOptions = {
  request: HttpRequest;
  /** As undici takes it. */
  dispatch: Dispatcher.DispatchOptions;
  pool: OriginPool;
  deadlines: Deadlines<Exchange>;
  clock: Clock;
  signal: AbortSignal | undefined;
  resolve: (response: HttpResponse) => void;
  reject: (reason: unknown) => void;
};

/**
 * One request and its response: undici's handler. This is the hottest code of the product: one object a request, no
 * stream, and chunks joined only when there is more than one.
 */
export class Exchange implements Dispatcher.DispatchHandler, Timed {
  readonly request: HttpRequest;
  readonly dispatch: Dispatcher.DispatchOptions;
  readonly signal: AbortSignal | undefined;
  readonly startedAtMs: number;
  stage: ExchangeStage = 'waiting';
  /** Waits in its pool's line. */
  inLine = false;
  slot = -1;
  quietSinceMs: number;
  bytesReceived = 0;
  bytesSeen = 0;
  paused = false;
  /** Whether bytes of the request may have reached the server. */
  wasSent = false;

  readonly #clock: Clock;
  readonly #pool: OriginPool;
  readonly #deadlines: Deadlines<Exchange>;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: unknown) => void;
  #connection: Connection | null = null;
  #controller: Controller | null = null;
  #reused = false;
  /** Tried once more after a kept-alive connection turned out dead. */
  #resent = false;
  #sentAtMs = 0;
  #firstByteAtMs = 0;
  #status = 0;
  #headers: ResponseHeaders = {};
  #chunk: Buffer | null = null;
  #chunks: Buffer[] | null = null;
  #decoder: BodyDecoder | null = null;

  constructor(options: ExchangeOptions) {
    this.request = options.request;
    this.dispatch = options.dispatch;
    this.signal = options.signal;
    this.#clock = options.clock;
    this.#pool = options.pool;
    this.#deadlines = options.deadlines;
    this.#resolve = options.resolve;
    this.#reject = options.reject;
    this.startedAtMs = options.clock.nowMs();
    this.quietSinceMs = this.startedAtMs;
  }

  get host(): string {
    return this.#pool.host;
  }

  /** The connection it was given to; null while it waits for one. */
  get connection(): Connection | null {
    return this.#connection;
  }

  attach(connection: Connection): void {
    this.#connection = connection;
  }

  onRequestStart(controller: Controller): void {
    if (this.stage === 'settled') {
      controller.abort(new Error('aborted before it was sent'));
      return;
    }
    const connection = this.#connection!;
    this.#controller = controller;
    this.#reused = connection.countUse();
    this.wasSent = true;
    this.stage = 'sent';
    this.#sentAtMs = this.quietSinceMs = this.#clock.nowMs();
  }

  onResponseStarted(): void {
    this.#firstByteAtMs = this.#clock.nowMs();
  }

  onResponseStart(controller: Controller, status: number, headers: ResponseHeaders): void {
    if (status < 200) return;
    this.stage = 'body';
    this.quietSinceMs = this.#firstByteAtMs;
    this.#status = status;
    this.#headers = headers;
    const connection = this.#connection!;
    if (closesConnection(headers)) connection.closesAfterResponse = true;
    const refusal = connection.refusal(status);
    if (refusal) {
      this.fail(refusal, controller);
      return;
    }
    const coding = headers['content-encoding'];
    if (coding !== undefined) this.#decode(coding, controller);
    else if (announcesMore(headers, this.request)) this.#failTooLarge(controller);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    this.bytesReceived += chunk.length;
    if (this.#decoder) {
      if (!this.#decoder.write(chunk)) this.#pause(controller);
      return;
    }
    if (this.bytesReceived > this.request.maxBodyBytes) {
      this.#failTooLarge(controller);
      return;
    }
    if (this.#chunk === null) this.#chunk = chunk;
    else if (this.#chunks === null) this.#chunks = [this.#chunk, chunk];
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.stage === 'settled') return;
    const endedAtMs = this.#clock.nowMs();
    if (!this.#decoder) {
      this.#succeed(this.#plainBody(), endedAtMs);
      return;
    }
    this.paused = true;
    this.#decoder.end((body) => this.#succeed(body, endedAtMs));
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    if (this.stage === 'settled') return;
    const connection = this.#connection;
    if (connection?.protocol === 'h2') connection.countHttp2Failure(error);
    if (connection && this.#mayResend(connection, error)) {
      this.#resend(connection);
      return;
    }
    this.#end();
    this.#reject(this.#errorOf(error));
  }

  #errorOf(error: unknown): HttpError {
    return exchangeError(error, {
      host: this.host,
      wasSent: this.wasSent,
      responseStarted: this.#status > 0,
      bytesReceived: this.bytesReceived,
      timings: this.#status > 0 ? this.#timings(this.#clock.nowMs()) : {},
    });
  }

  /** Ends the exchange with an error of ours, and what is on the wire with it. */
  fail(reason: unknown, controller: Controller | null = this.#controller): void {
    if (this.stage === 'settled') return;
    this.stage = 'settled';
    this.#decoder?.destroy();
    if (controller) controller.abort(reason instanceof Error ? reason : new Error('aborted'));
    // Still queued within undici: the leftover ends itself when it starts, and over HTTP/1.1 its connection with it.
    else if (this.#connection?.protocol === 'h1') this.#connection.retire();
    this.#end();
    this.#reject(reason);
  }

  onTimeout(limit: TimeLimit): void {
    // An HTTP/2 connection that fell silent may be dead: what comes next opens another one.
    if (this.#connection?.protocol === 'h2' && limit !== 'TIMEOUT_TOTAL') this.#connection.retire();
    this.fail(timeoutError(limit, this));
  }

  #decode(header: string | string[], controller: Controller): void {
    const codings = readCodings(header);
    if (typeof codings === 'string') {
      this.fail(unsupportedCoding(this.host, codings), controller);
      return;
    }
    if (codings.length === 0) return;
    this.#decoder = new BodyDecoder({
      codings,
      host: this.host,
      maxBytes: this.request.maxBodyBytes,
      onDrain: () => this.#resume(controller),
      onError: (error) => this.fail(error, controller),
    });
  }

  #pause(controller: Controller): void {
    this.paused = true;
    controller.pause();
  }

  #resume(controller: Controller): void {
    this.paused = false;
    if (this.stage === 'body') controller.resume();
  }

  #failTooLarge(controller: Controller): void {
    this.fail(tooLarge(this.host, this.request.maxBodyBytes), controller);
  }

  #plainBody(): Buffer {
    if (this.#chunks) return Buffer.concat(this.#chunks, this.bytesReceived);
    return this.#chunk ?? EMPTY;
  }

  #mayResend(connection: Connection, error: Error): boolean {
    if (!this.#reused || this.#resent || this.#status > 0 || connection.protocol !== 'h1') return false;
    return maySendAgain(this.request.method, error);
  }

  #resend(connection: Connection): void {
    this.#resent = true;
    this.stage = 'waiting';
    this.#firstByteAtMs = 0;
    this.#connection = null;
    this.#controller = null;
    connection.resend(this);
  }

  #succeed(body: Buffer, endedAtMs: number): void {
    if (this.stage === 'settled') return;
    const connection = this.#connection!;
    if (connection.protocol === 'h2') connection.countHttp2Success();
    const response: HttpResponse = {
      status: this.#status,
      headers: this.#headers,
      body,
      wireBytes: this.bytesReceived,
      httpVersion: connection.protocol === 'h2' ? '2' : '1.1',
      timings: this.#timings(endedAtMs),
      reusedConnection: this.#reused,
    };
    this.#end();
    this.#resolve(response);
  }

  #end(): void {
    this.stage = 'settled';
    this.#deadlines.remove(this);
    this.#pool.release(this);
  }

  #timings(endedAtMs: number): WireTimings {
    const opened = this.#reused ? NO_OPENING : this.#connection!.openingTimings;
    return {
      dns: opened.dns,
      connect: opened.connect,
      tls: opened.tls,
      firstByte: this.#firstByteAtMs - this.#sentAtMs,
      download: endedAtMs - this.#firstByteAtMs,
    };
  }
}

// The usual value costs no pattern.
function closesConnection({ connection }: ResponseHeaders): boolean {
  return connection !== undefined && connection !== 'keep-alive' && /\bclose\b/i.test(String(connection));
}

const EMPTY = Buffer.alloc(0);
const NO_OPENING = { dns: 0, connect: 0, tls: 0 };
