import { STATUS_CODES } from 'node:http';
import { isUtf8 } from '../http/charset.ts';
import type { HttpResponse } from '../http/client.ts';
import type { Route, SentRequest } from '../routes/define-route.ts';
import { RequestFailure } from './failure-codes.ts';
import { FollowUps } from './follow-ups.ts';
import { withTimeout } from './handler-timeout.ts';
import type { Job } from './job.ts';
import type { JsonContext } from './json-context.ts';
import type { CrawlParts } from './parts.ts';
import { addListedRecords, type PlainList } from './plain-list.ts';
import {
  applyRoute,
  mediaTypeOf,
  type ParsedReply,
  parseForHandler,
  parseReply,
  requireSuccess,
  timed,
} from './process-response.ts';
import type { Reply } from './transport.ts';
import type { UserCode } from './user-code.ts';

/** Makes records and further requests of a reply: by a route, the user's handler, or as one of a plain list. */
export class ReplyHandler {
  readonly #parts: CrawlParts;
  readonly #user: UserCode;
  readonly #plain: PlainList | null;
  readonly #contextOf: (job: Job) => JsonContext;
  readonly #followUps: FollowUps;

  constructor(options: {
    parts: CrawlParts;
    user: UserCode;
    /** How requests without a label are handled; null = by the user's handler alone. */
    plain: PlainList | null;
    /** The context that hooks and handlers of a request share. */
    contextOf: (job: Job) => JsonContext;
  }) {
    this.#parts = options.parts;
    this.#user = options.user;
    this.#plain = options.plain;
    this.#contextOf = options.contextOf;
    this.#followUps = new FollowUps(options.parts);
  }

  /**
   * @param rotations how often the request has changed its session
   * @throws what the reply or the user's code has against it
   */
  async handle(job: Job, reply: Reply, rotations: number): Promise<void> {
    const { route, handler } = job;
    const { decision } = reply;
    if (decision.kind === 'fail') throw decision.error;
    if (decision.kind === 'retry') {
      job.retryAfterMs = decision.afterMs;
      throw decision.error;
    }
    if (decision.kind === 'done') {
      job.skipReason = decision.skipReason;
      this.#followUps.add(job, decision.requests);
      return;
    }
    if (decision.kind === 'usual')
      requireSuccess(reply, { isError: (status) => this.#user.isErrorStatus(status), rotations });
    const { method } = job.request;
    if (route === null && handler !== null) {
      const isOpen = (type: string): boolean => this.#user.takesType(type);
      const parsed = this.#timed(job, 'parse', () => parseForHandler(reply, { method, takesType: isOpen }));
      return this.#runHandler(job, { handler, parsed });
    }
    const parsed = this.#timed(job, 'parse', () => parseReply(reply, method));
    if (route !== null) this.#timed(job, 'handler', () => this.#applyRoute(route, job, parsed));
    else this.#addListed(job, parsed);
  }

  #applyRoute(route: Route, job: Job, reply: ParsedReply): void {
    const requests = applyRoute(route, { job, reply, request: storedRequest(job), settings: this.#parts.settings });
    this.#followUps.add(job, requests);
  }

  async #runHandler(
    job: Job,
    { handler, parsed }: { handler: (context: JsonContext) => unknown; parsed: ParsedReply },
  ): Promise<void> {
    const context = this.#contextOf(job);
    const { response, url } = parsed;
    context.setResponse({ ...plainResponse(response, url), body: utf8BodyOf(parsed), json: parsed.body });
    await this.#callHandler(job, handler, context);
  }

  async #callHandler(job: Job, handler: (context: JsonContext) => unknown, context: JsonContext): Promise<void> {
    const { clock } = this.#parts.ports;
    const startedMs = clock.nowMs();
    const timeoutMs = this.#user.handlerTimeoutMs ?? this.#parts.hostConfig(job.leased.host).timeouts.handlerMs;
    const message = `requestHandler timed out after ${timeoutMs / 1000} seconds (${job.request.url})`;
    try {
      const done = Promise.resolve(handler(context));
      await withTimeout(done, { clock, timeoutMs, onTimeout: (error) => context.timeOut(error), message });
    } finally {
      this.#parts.recorder.time(job.leased.host, 'handler', clock.nowMs() - startedMs);
    }
  }

  /** Nothing was sent: the user's handler runs all the same. */
  async handleWithoutResponse(job: Job): Promise<void> {
    const { handler } = job;
    if (handler === null) throw new RequestFailure('HANDLER_FAILED', 'skipNavigation needs a requestHandler');
    await this.#callHandler(job, handler, this.#contextOf(job));
  }

  #addListed(job: Job, { response, text, body }: ParsedReply): void {
    if (this.#plain === null)
      throw new RequestFailure('UNKNOWN_LABEL', 'The request has no label and there is no requestHandler');
    const listed = { url: job.request.url, status: response.status, body, text };
    const plain = this.#plain;
    this.#timed(job, 'handler', () => addListedRecords(plain, listed, job.work));
  }

  #timed<T>(job: Job, phase: 'parse' | 'handler', action: () => T): T {
    const { ports, recorder } = this.#parts;
    return timed({ clock: ports.clock, recorder, host: job.leased.host, phase }, action);
  }
}

/** The request as it is stored, for routes: no secret is in it. */
export function storedRequest({ request, data }: Job): SentRequest {
  return { url: request.url, method: request.method, headers: data.headers ?? {}, payload: data.payload ?? null };
}

/** What Crawlee's context tells of a response. */
export function plainResponse({ status, headers, httpVersion }: HttpResponse, url: string) {
  const statusMessage = STATUS_CODES[status];
  return {
    response: { statusCode: status, statusMessage, headers, url, httpVersion, complete: true as const },
    contentType: { type: mediaTypeOf(headers), encoding: 'utf-8' as const },
  };
}

/** The bytes as they came, or as UTF-8 when they came in another charset: `contentType.encoding` reads them. */
function utf8BodyOf({ response, text }: ParsedReply): Buffer {
  return isUtf8(response.body, response.headers) ? response.body : Buffer.from(text);
}
