import type { Clock } from '../core/clock.ts';
import { hostOf } from '../core/host.ts';
import type { Sample, Verdict } from '../core/sample.ts';
import type { Timings } from '../core/timings.ts';
import { type HttpRequest, type HttpResponse, NETWORK_FAILURE_OF, type WireTimings } from '../http/client.ts';
import { HttpError } from '../http/http-error.ts';
import { isRedirect, nextHop } from '../http/redirects.ts';
import type { HostSession } from '../sessions/session-pools.ts';
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
};

/** A response that no redirect follows. `wasLimited` = the governor took it for a rejection. */
export type Reply = { response: HttpResponse; url: string; wasLimited: boolean };

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
      const { response, verdict } = await this.#attempt(hop, current);
      if (verdict === 'limited' || !isRedirect(response))
        return { response, url: hop.url, wasLimited: verdict === 'limited' };
      visited.push(hop.url);
      this.#keepCookies(sending.session, hop.url, response);
      hop = nextHop(hop, response, { visited, limit: MOST_REDIRECTS, secretHeaders });
      const host = hostOf(hop.url);
      const key = await this.#awaitGrant(host, sending.signal);
      current = { ...sending, host, key, politenessMs: 0, queueMs: 0 };
      if (originHeaders.origins.has(originOf(hop.url))) hop = withHeaders(hop, originHeaders.headers);
    }
  }

  async #attempt(hop: HttpRequest, sending: Sending): Promise<{ response: HttpResponse; verdict: Verdict }> {
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
    const verdict = this.#learn(hop, { sending, sentAtMs, response, error: null });
    return { response, verdict };
  }

  #learn(
    hop: HttpRequest,
    ended: { sending: Sending; sentAtMs: number; response: HttpResponse | null; error: unknown },
  ): Verdict {
    const { sending, response, error } = ended;
    const nowMs = this.#clock.nowMs();
    const httpError = error instanceof HttpError ? error : null;
    const sample: Sample = {
      key: sending.key,
      origin: originOf(hop.url),
      sentAtMs: ended.sentAtMs,
      endedAtMs: nowMs,
      status: response?.status ?? null,
      failure: response ? null : httpError ? NETWORK_FAILURE_OF[httpError.code] : 'aborted',
      headers: response?.headers ?? NO_HEADERS,
      wallMs: this.#clock.wallMs(),
      bodyText: response === null ? null : excerptOf(hop, response),
      overloaded: this.#load.wasOverloadedSince(ended.sentAtMs),
    };
    const verdict = this.#parts.gate.finish(sample);
    this.#parts.queue.released(sending.host);
    this.#parts.recorder.attempt({
      host: sending.host,
      status: sample.status,
      failure: httpError?.code ?? (response ? null : 'ABORTED'),
      timings: timingsOf(sending, response?.timings ?? httpError?.timings),
      reused: response?.reusedConnection ?? false,
      httpVersion: response?.httpVersion ?? null,
      limited: verdict === 'limited',
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
      if (givenUp !== null) throw new HostGivenUpError(host, givenUp);
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

/** A redirect leads to a host that nothing more is sent to in this run. */
export class HostGivenUpError extends Error {
  override readonly name = 'HostGivenUpError';
  constructor(host: string, reason: string) {
    super(`The redirect leads to ${host}, which was given up: ${reason}`);
  }
}

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
