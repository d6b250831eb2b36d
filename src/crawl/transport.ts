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
import type { GrantLine } from './grant-line.ts';
import type { LoadMonitor } from './load-monitor.ts';
import type { CrawlParts } from './parts.ts';
import { mergedCookies, originOf } from './request-builder.ts';

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
  /** What stands in for a response, before anybody but the governor sees it; null = nothing does. */
  revive: ((response: HttpResponse) => HttpResponse) | null;
  /** Headers of the first hop that must not leave its origin; names in lower case. */
  secretHeaders: readonly string[];
  /** Whether the body must not leave it either. */
  hasSecretBody: boolean;
  /** Whether redirects are followed; else they are the answer. */
  followsRedirects: boolean;
};

/** A response that no redirect follows. `wasLimited` = the server asked for less; `hadCookies` = cookies were sent. */
export type Reply = {
  response: HttpResponse;
  url: string;
  wasLimited: boolean;
  hadCookies: boolean;
  decision: ResponseDecision;
};

// RFC 9110 15.4: a client should detect cyclical redirections. 10, as design section 10 bounds them.
const MOST_REDIRECTS = 10;
// Enough for any limit told in a body; more is not looked at.
const BODY_EXCERPT_BYTES = 8 * 1024;

/** Sends a request and follows its redirects, each hop under its own host's pacing. */
export class Transport {
  readonly #parts: CrawlParts;
  readonly #load: LoadMonitor;
  readonly #clock: Clock;
  readonly #grants: GrantLine;
  readonly #giveSlotBack: () => void;
  readonly #takeSlotAgain: () => void;

  constructor(options: {
    parts: CrawlParts;
    load: LoadMonitor;
    grants: GrantLine;
    /** A hop that waits for its host must not hold the slot of a request that could go. */
    giveSlotBack: () => void;
    takeSlotAgain: () => void;
  }) {
    this.#parts = options.parts;
    this.#load = options.load;
    this.#clock = options.parts.ports.clock;
    this.#grants = options.grants;
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
    const { hasSecretBody } = sending;
    const secretHeaders = [...Object.keys(originHeaders.headers), ...sending.secretHeaders];
    for (;;) {
      const { response, verdict, decision, hadCookies } = await this.#attempt(hop, current);
      const wasLimited = isLimited(verdict, decision);
      if (wasLimited || !isRedirect(response) || !sending.followsRedirects)
        return { response, url: hop.url, wasLimited, hadCookies, decision };
      visited.push(hop.url);
      this.#keepCookies(sending.session, hop.url, response);
      hop = nextHop(hop, response, { visited, limit: MOST_REDIRECTS, secretHeaders, hasSecretBody });
      const host = hostOf(hop.url);
      const key = await this.awaitGrant(host, sending.signal);
      current = { ...sending, host, key, politenessMs: 0, queueMs: 0 };
      if (originHeaders.origins.has(originOf(hop.url))) hop = withHeaders(hop, originHeaders.headers);
    }
  }

  async #attempt(hop: HttpRequest, sending: Sending): Promise<Attempted> {
    const sentAtMs = this.#clock.nowMs();
    let response: HttpResponse;
    let hadCookies = false;
    try {
      // What the session adds is of this hop alone: on the hop itself it would travel on to another host.
      const own = this.#parts.sessions.headersFor(sending.session, hop.url);
      hadCookies = own?.cookie !== undefined;
      const sent = own === null ? hop : withHeaders(hop, withCookiesOf(hop, own));
      response = await this.#parts.clientFor(sending.host).send(sent, sending.signal);
    } catch (error) {
      this.#learn(hop, { sending, sentAtMs, response: null, error });
      throw error;
    }
    const decision = await this.#judge(hop, { sending, sentAtMs, response });
    const verdict = this.#learn(hop, { sending, sentAtMs, response, error: null, decision });
    return { response: sending.revive?.(response) ?? response, verdict, decision, hadCookies };
  }

  async #judge(
    hop: HttpRequest,
    ended: { sending: Sending; sentAtMs: number; response: HttpResponse },
  ): Promise<ResponseDecision> {
    const { judge } = ended.sending;
    if (judge === null || isRedirect(ended.response)) return USUAL;
    try {
      return await judge(ended.sending.revive?.(ended.response) ?? ended.response, hop.url);
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
      method: hop.method,
      url: hop.url,
      overloaded: this.#load.wasOverloadedSince(ended.sentAtMs),
    };
    const verdict = this.#parts.gate.finish(sample);
    this.#grants.released(sending.host);
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

  /** Waits for another host's leave, outside of the slot unless it comes at once. */
  async awaitGrant(host: string, signal: AbortSignal | undefined): Promise<string> {
    const key = this.#grants.tryNow(host);
    if (key !== null) return key;
    this.#giveSlotBack();
    try {
      return await this.#grants.wait(host, signal);
    } finally {
      this.#takeSlotAgain();
    }
  }

  #keepCookies(session: HostSession, url: string, { headers }: HttpResponse): void {
    const setCookie = headers['set-cookie'];
    if (setCookie !== undefined) this.#parts.sessions.storeCookies(session, url, setCookie);
  }
}

const NO_HEADERS = Object.freeze({});
const USUAL: ResponseDecision = Object.freeze({ kind: 'usual' });

type Attempted = { response: HttpResponse; verdict: Verdict; decision: ResponseDecision; hadCookies: boolean };

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

/** Cookies of the request itself go before those of the session, and instead of them where the names are the same. */
function withCookiesOf(hop: HttpRequest, own: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const given = hop.headers.cookie;
  if (given === undefined || own.cookie === undefined) return own;
  return { ...own, cookie: mergedCookies(given, own.cookie) };
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
