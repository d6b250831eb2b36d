import type { Clock } from '../core/clock.ts';
import { hostOf } from '../core/host.ts';
import type { Sample, Verdict } from '../core/sample.ts';
import type { Timings } from '../core/timings.ts';
import { SECOND_MS } from '../core/units.ts';
import { type HttpRequest, type HttpResponse, NETWORK_FAILURE_OF, type WireTimings } from '../http/client.ts';
import { HttpError } from '../http/http-error.ts';
import { isRedirect, nextHop } from '../http/redirects.ts';
import type { ResponseDecision } from '../routes/define-route.ts';
import type { HostSession } from '../sessions/session-pools.ts';
import { RequestFailure } from './failure-codes.ts';
import type { LoadMonitor } from './load-monitor.ts';
import type { CrawlParts } from './parts.ts';
import { originOf } from './request-builder.ts';

/** One request on its way, from its grant to its last redirect. */
export type Sending = {
  host: string;
  /** The governor key whose grant was taken for the first hop. */
  key: string;
  session: HostSession;
  /** Time before the first hop was sent, ms. */
  politenessMs: number;
  queueMs: number;
  signal: AbortSignal | undefined;
  /** Asked about every response that is no redirect, before the governor learns of it; null = none is. */
  judge: ((response: HttpResponse, url: string) => ResponseDecision | Promise<ResponseDecision>) | null;
};

/** A response that no redirect follows. `wasLimited` = the server asked for less. */
export type Reply = { response: HttpResponse; url: string; wasLimited: boolean; decision: ResponseDecision };

// RFC 9110 15.4: a client should detect cyclical redirections. 10, as design section 10 bounds them.
const MOST_REDIRECTS = 10;
// Enough for any limit told in a body; more is not looked at.
const BODY_EXCERPT_BYTES = 8 * 1024;

/** Sends a request and follows its redirects, each hop under its own host's pacing. */
export class Transport {
  readonly #parts: CrawlParts;
  readonly #load: LoadMonitor;
  readonly #clock: Clock;
  readonly #giveSlotBack: () => void;
  readonly #takeSlotAgain: () => Promise<void>;

  constructor(options: {
    parts: CrawlParts;
    load: LoadMonitor;
    /** A hop that waits for its host must not hold the slot of a request that could go. */
    giveSlotBack: () => void;
    takeSlotAgain: () => Promise<void>;
  }) {
    this.#parts = options.parts;
    this.#load = options.load;
    this.#clock = options.parts.ports.clock;
    this.#giveSlotBack = options.giveSlotBack;
    this.#takeSlotAgain = options.takeSlotAgain;
  }

  /**
   * @throws HttpError when no usable response came; RequestFailure for a redirect that leads nowhere; the signal's
   *   reason when aborted. The grant is given back in every case.
   */
  async send(first: HttpRequest, sending: Sending): Promise<Reply> {
    let hop = first;
    let current = sending;
    const visited: string[] = [];
    const { originHeaders } = this.#parts.settings;
    const secretHeaders = Object.keys(originHeaders.headers);
    for (;;) {
      const { response, verdict, decision } = await this.#attempt(hop, current);
      const wasLimited = isLimited(verdict, decision);
      if (wasLimited || !isRedirect(response)) return { response, url: hop.url, wasLimited, decision };
      visited.push(hop.url);
      this.#keepCookies(sending.session, hop.url, response);
      hop = nextHop(hop, response, { visited, limit: MOST_REDIRECTS, secretHeaders });
      const host = hostOf(hop.url);
      const key = await this.#awaitGrant(host, sending.signal);
      current = { ...sending, host, key, politenessMs: 0, queueMs: 0 };
      if (originHeaders.origins.has(originOf(hop.url))) hop = withHeaders(hop, originHeaders.headers);
    }
  }

  async #attempt(hop: HttpRequest, sending: Sending): Promise<Attempted> {
    const sentAtMs = this.#clock.nowMs();
    let response: HttpResponse;
    try {
      // What the session adds is of this hop alone: on the hop itself it would travel on to another host.
      const own = this.#parts.sessions.headersFor(sending.session, hop.url);
      const sent = own === null ? hop : withHeaders(hop, own);
      response = await this.#parts.clientFor(sending.host).send(sent, sending.signal);
    } catch (error) {
      this.#learn(hop, { sending, sentAtMs, response: null, error });
      throw error;
    }
    const decision = await this.#judge(hop, { sending, sentAtMs, response });
    const verdict = this.#learn(hop, { sending, sentAtMs, response, error: null, decision });
    return { response, verdict, decision };
  }

  async #judge(
    hop: HttpRequest,
    ended: { sending: Sending; sentAtMs: number; response: HttpResponse },
  ): Promise<ResponseDecision> {
    const { judge } = ended.sending;
    if (judge === null || isRedirect(ended.response)) return USUAL;
    try {
      return await judge(ended.response, hop.url);
    } catch (error) {
      // The answer came all the same: the governor learns of it.
      this.#learn(hop, { ...ended, error: null });
      throw error;
    }
  }

  #learn(
    hop: HttpRequest,
    ended: {
      sending: Sending;
      sentAtMs: number;
      response: HttpResponse | null;
      error: unknown;
      decision?: ResponseDecision;
    },
  ): Verdict {
    const { sending, response, error, decision = USUAL } = ended;
    const nowMs = this.#clock.nowMs();
    const httpError = error instanceof HttpError ? error : null;
    const sample: Sample = {
      key: sending.key,
      origin: originOf(hop.url),
      sentAtMs: ended.sentAtMs,
      endedAtMs: nowMs,
      ...seenAs(response, decision),
      failure: response ? null : httpError ? NETWORK_FAILURE_OF[httpError.code] : 'aborted',
      wallMs: this.#clock.wallMs(),
      bodyText: response === null ? null : excerptOf(hop, response),
      overloaded: this.#load.wasOverloadedSince(ended.sentAtMs),
    };
    const verdict = this.#parts.gate.finish(sample);
    this.#parts.queue.released(sending.host);
    this.#parts.recorder.attempt({
      host: sending.host,
      status: response?.status ?? null,
      failure: httpError?.code ?? (response ? null : 'ABORTED'),
      timings: timingsOf(sending, response?.timings ?? httpError?.timings),
      reused: response?.reusedConnection ?? false,
      httpVersion: response?.httpVersion ?? null,
      limited: isLimited(verdict, decision),
    });
    return verdict;
  }

  /** Waits for the next host's leave, outside of the slot unless it comes at once. */
  async #awaitGrant(host: string, signal: AbortSignal | undefined): Promise<string> {
    const { gate } = this.#parts;
    const answer = gate.tryAcquire(host, this.#clock.nowMs());
    if (typeof answer === 'string') return answer;
    this.#giveSlotBack();
    const key = await this.#pollGrant(host, answer, signal);
    await this.#takeSlotAgain();
    return key;
  }

  async #pollGrant(host: string, askAtMs: number, signal: AbortSignal | undefined): Promise<string> {
    let nextAskMs = askAtMs;
    for (;;) {
      const nowMs = this.#clock.nowMs();
      const waitMs = Math.min(nextAskMs - nowMs, LONGEST_POLL_MS);
      await this.#clock.sleep(Math.max(1, waitMs), signal);
      const answer = this.#parts.gate.tryAcquire(host, this.#clock.nowMs());
      if (typeof answer === 'string') return answer;
      const givenUp = this.#parts.gate.givenUp(host, this.#clock.nowMs());
      if (givenUp !== null)
        throw new RequestFailure('HOST_GIVEN_UP', `The redirect leads to ${host}, which was given up: ${givenUp}`);
      nextAskMs = answer;
    }
  }

  #keepCookies(session: HostSession, url: string, { headers }: HttpResponse): void {
    const setCookie = headers['set-cookie'];
    if (setCookie !== undefined) this.#parts.sessions.storeCookies(session, url, setCookie);
  }
}

/** How long a redirect waits for its host before asking whether it was given up. */
const LONGEST_POLL_MS = 250;

const NO_HEADERS = Object.freeze({});
const USUAL: ResponseDecision = Object.freeze({ kind: 'usual' });

type Attempted = { response: HttpResponse; verdict: Verdict; decision: ResponseDecision };

/** A route that knows better than the status has the last word. */
function isLimited(verdict: Verdict, { kind }: ResponseDecision): boolean {
  return kind === 'limited' || (kind === 'usual' && verdict === 'limited');
}

/** How the governor is told of a response: one that a route calls limited, as the 429 it stands for. */
function seenAs(response: HttpResponse | null, decision: ResponseDecision): Pick<Sample, 'status' | 'headers'> {
  if (response === null) return { status: null, headers: NO_HEADERS };
  if (decision.kind !== 'limited') return { status: response.status, headers: response.headers };
  const { waitMs } = decision;
  const told = waitMs === null ? {} : { 'retry-after': String(Math.ceil(waitMs / SECOND_MS)) };
  return { status: TOO_MANY_REQUESTS, headers: { ...response.headers, ...told } };
}

// RFC 6585 4.
const TOO_MANY_REQUESTS = 429;

function withHeaders(hop: HttpRequest, more: Readonly<Record<string, string>>): HttpRequest {
  return { ...hop, headers: { ...hop.headers, ...more } };
}

function timingsOf(sending: Sending, wire: Partial<WireTimings> | undefined): Timings {
  return {
    politeness: sending.politenessMs,
    queue: sending.queueMs,
    dns: wire?.dns ?? 0,
    connect: wire?.connect ?? 0,
    tls: wire?.tls ?? 0,
    firstByte: wire?.firstByte ?? 0,
    download: wire?.download ?? 0,
    parse: 0,
    handler: 0,
    commit: 0,
  };
}

/** Limits are told in bodies of refusals, and by GraphQL in answers that look like successes. */
function excerptOf(hop: HttpRequest, response: HttpResponse): string | null {
  const isPlainSuccess = response.status < 400 && hop.method !== 'POST';
  return isPlainSuccess ? null : response.body.toString('utf8', 0, BODY_EXCERPT_BYTES);
}
