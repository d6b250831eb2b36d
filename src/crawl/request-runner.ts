import type { ProxyInfo } from '@crawlee/core';
import { messageOf } from '../core/errors.ts';
import { hostOf } from '../core/host.ts';
import { decodeBody, InvalidJsonError, parseJsonBody } from '../http/bodies.ts';
import type { HttpRequest, HttpResponse } from '../http/client.ts';
import { boundSessionOf } from '../queue/bound-session.ts';
import type { Taken } from '../queue/host-scheduler.ts';
import type { PreparedRequest } from '../routes/define-route.ts';
import type { LeasedRequest } from '../storage/store.ts';
import type { ContextHost } from './context-host.ts';
import { RequestFailure } from './failure-codes.ts';
import type { Job } from './job.ts';
import { JsonContext } from './json-context.ts';
import { type KeptResponse, revived, withConditions } from './kept-responses.ts';
import { openRequest } from './lean-request.ts';
import type { CrawlParts } from './parts.ts';
import { PendingWork } from './pending-work.ts';
import type { PlainList } from './plain-list.ts';
import { Suspects, timesLost } from './poison.ts';
import { plainResponse, ReplyHandler, storedRequest } from './reply-handler.ts';
import type { NavigationOptions, RequestBuilder } from './request-builder.ts';
import type { Reply, Sending, Transport } from './transport.ts';
import type { UserCode } from './user-code.ts';

/** Takes one request from its grant to what its handler wrote. Errors are the caller's to settle. */
export class RequestRunner {
  readonly #parts: CrawlParts;
  readonly #transport: Transport;
  readonly #builder: RequestBuilder;
  readonly #user: UserCode;
  readonly #contextHost: ContextHost;
  readonly #signal: AbortSignal;
  readonly #suspects: Suspects;
  readonly #replies: ReplyHandler;
  readonly #rotations = new WeakMap<LeasedRequest, number>();

  constructor(options: {
    parts: CrawlParts;
    transport: Transport;
    builder: RequestBuilder;
    user: UserCode;
    contextHost: ContextHost;
    /** How requests without a label are handled; null = by the user's handler alone. */
    plain: PlainList | null;
    /** Aborted when requests in flight must end now. */
    signal: AbortSignal;
  }) {
    this.#parts = options.parts;
    this.#transport = options.transport;
    this.#builder = options.builder;
    this.#user = options.user;
    this.#contextHost = options.contextHost;
    this.#signal = options.signal;
    this.#suspects = new Suspects(options.parts.store.values);
    this.#replies = new ReplyHandler({ ...options, contextOf: (job) => this.contextOf(job) });
  }

  open(taken: Taken): Job {
    const leased = taken.request;
    const { request, data, patch } = openRequest(leased);
    const session = this.#parts.sessions.take(leased.host, taken.key, boundSessionOf(leased));
    const job: Job = {
      taken,
      leased,
      request,
      data,
      patch,
      session,
      work: new PendingWork(this.#parts.columns, {
        host: leased.host,
        sessionId: () => job.session.id,
        isSticky: this.#isSticky(leased.host),
      }),
      startedAtMs: this.#parts.ports.clock.nowMs(),
      firstAtMs: patch.firstAtMs ?? this.#parts.ports.clock.wallMs(),
      context: null,
      response: null,
      proxyUrl: null,
      route: null,
      handler: null,
      skipReason: null,
      retryAfterMs: null,
      endSuspicion: null,
      holdsSlot: true,
      isExposed: false,
    };
    return job;
  }

  /** Whether its session is to be followed from here on; of a request that is bound to one, that is settled. */
  #beginsChain({ route, leased }: Job): boolean {
    const isSticky = route?.session === 'sticky' || this.#isSticky(leased.host);
    return isSticky && boundSessionOf(leased) === null;
  }

  #isSticky(host: string): boolean {
    return this.#parts.hostConfig(host).sessionPool.sticky;
  }

  /**
   * @returns the reply, which `handle` takes; or handled = there is none and none is needed; again = the server asked
   *   for less, or for another session: the same request goes once more; later = nothing was sent, as its process has
   *   died with it before and others go first
   */
  async run(job: Job): Promise<Replied | 'handled' | 'again' | 'later'> {
    const lost = timesLost(job.leased, job.patch.completedAttempts ?? 0);
    if (lost > 0 && (await this.#isSuspect(job, lost))) return 'later';
    const { request, host, ticket, secrets, kept, navigation } = await this.#beforeSending(job);
    if (request === null) {
      await this.#replies.handleWithoutResponse(job);
      return 'handled';
    }
    const reply = await this.#transport.send(request, {
      host,
      key: host === job.leased.host ? job.taken.key : await this.#grantElsewhere(job, host),
      session: job.session,
      politenessMs: job.taken.politenessMs,
      queueMs: job.taken.queueMs,
      signal: this.#signal,
      judge: this.#judgeOf(job, ticket),
      ...secrets,
      revive: kept === null ? null : (response) => revived(response, kept),
      followsRedirects: navigation?.followRedirect !== false,
    });
    job.response = reply.response;
    job.request.loadedUrl = this.#parts.conceal(reply.url);
    return this.#mustGoAgain(job, reply) ? 'again' : { reply, navigation };
  }

  /** Whether the user's code works on the answer: as in Crawlee, `maxConcurrency` bounds that, too. */
  runsUserCode(job: Job): boolean {
    return job.handler !== null || this.#user.postNavigationHooks.length > 0;
  }

  /** Makes records and further requests of the reply. */
  async handle(job: Job, { reply, navigation }: Replied): Promise<void> {
    if (this.#user.postNavigationHooks.length > 0) await this.#afterResponse(job, reply, navigation ?? {});
    if (job.data.crawlee?.enqueueStrategy !== undefined && (await this.#hasLeftItsStrategy(job))) return;
    await this.#replies.handle(job, reply, this.#rotations.get(job.leased) ?? 0);
    await this.#parts.kept?.keep(job.leased, reply.response, job.work);
  }

  /** The context that hooks and handlers of this request share. */
  contextOf(job: Job): JsonContext {
    job.isExposed = true;
    if (job.context !== null) return job.context;
    const context = new JsonContext({
      host: this.#contextHost,
      work: job.work,
      request: job.request,
      session: job.session,
      proxyInfo: proxyInfoOf(job),
      signal: this.#signal,
    });
    if (job.response !== null) {
      const { response } = job;
      const url = job.request.loadedUrl ?? job.request.url;
      context.setResponse({ ...plainResponse(response, url), body: response.body, json: undefined });
    }
    job.context = context;
    return context;
  }

  /** Until here nothing was sent: the grant goes back when a hook throws. */
  async #beforeSending(job: Job): Promise<Sendable> {
    try {
      job.proxyUrl =
        this.#user.newProxyInfo === null ? this.#parts.sessions.proxyOf(job.session) : await this.#usersProxyOf(job);
      const navigation = await this.#runPreHooks(job);
      this.#findHandler(job);
      const { url } = job.request;
      const host = url === job.leased.url ? job.leased.host : hostOf(url);
      if (job.request.skipNavigation) {
        this.#returnGrant(job);
        return { request: null, host, ticket: null, secrets: NO_SECRETS, kept: null, navigation };
      }
      const prepared = await this.#prepare(job, this.#builder.build(job, navigation));
      return { ...(await this.#withConditions(job, prepared)), host, navigation };
    } catch (error) {
      this.#returnGrant(job);
      throw error;
    }
  }

  /**
   * @returns whether a request that its process has died with must wait for others
   * @throws RequestFailure POISON
   */
  async #isSuspect(job: Job, lost: number): Promise<boolean> {
    const end = await this.#suspects.begin(job.leased, this.#parts.queue.leased - 1);
    if (typeof end === 'function') {
      job.endSuspicion = end;
      return false;
    }
    this.#returnGrant(job);
    if (end === 'later') return true;
    job.endSuspicion = () => {};
    throw poisonFailure(job, lost);
  }

  async #usersProxyOf(job: Job): Promise<string | null> {
    const info = await this.#user.newProxyInfo!(job.session.id, job.request);
    return info?.url ?? null;
  }

  /** A hook or errorHandler has sent the request to another host: its own grant is of no use there. */
  async #grantElsewhere(job: Job, host: string): Promise<string> {
    this.#returnGrant(job);
    return this.#transport.awaitGrant(host, this.#signal);
  }

  /** As in Crawlee: a request of enqueueLinks that was redirected out of its strategy is skipped. */
  async #hasLeftItsStrategy(job: Job): Promise<boolean> {
    if (this.#user.staysInStrategy(job.request)) return false;
    job.skipReason = 'redirected elsewhere';
    await this.#contextHost.skipped({ url: job.request.url, reason: 'redirect' });
    return true;
  }

  /** Puts in what a route keeps out of the store: credentials. */
  async #prepare(job: Job, request: HttpRequest): Promise<Prepared> {
    const prepare = job.route?.prepare;
    if (prepare === undefined) return { request, ticket: null, secrets: NO_SECRETS };
    const { url, method, headers, body } = request;
    const outgoing = { url, method, headers: { ...headers }, payload: body === null ? null : String(body) };
    const prepared = await prepare(outgoing, { userData: job.data.userData ?? {}, signal: this.#signal });
    const { request: secret, ticket, secretHeaders, hasSecretBody = false } = prepared;
    const { payload, ...sent } = secret;
    return { request: { ...request, ...sent, body: payload }, ticket, secrets: { secretHeaders, hasSecretBody } };
  }

  /** Asks only for what has changed, where an earlier answer is kept. */
  async #withConditions(job: Job, prepared: Prepared): Promise<Prepared & { kept: KeptResponse | null }> {
    const kept = (await this.#parts.kept?.find(job.leased)) ?? null;
    const request = kept === null ? null : withConditions(prepared.request, kept);
    return request === null ? { ...prepared, kept: null } : { ...prepared, request, kept };
  }

  #judgeOf(job: Job, ticket: string | null): Sending['judge'] {
    const judge = job.route?.judge;
    if (judge === undefined) return null;
    return (response, url) =>
      judge({
        url,
        status: response.status,
        headers: response.headers,
        text: () => decodeBody(response.body, response.headers),
        body: () => bodyOrUndefined(response, url),
        request: storedRequest(job),
        userData: job.data.userData ?? {},
        ticket,
      });
  }

  async #runPreHooks(job: Job): Promise<NavigationOptions | undefined> {
    if (this.#user.preNavigationHooks.length === 0) return undefined;
    const navigation: NavigationOptions = {};
    for (const hook of this.#user.preNavigationHooks) await hook(this.contextOf(job), navigation);
    return navigation;
  }

  /** Tells the session what came of it. */
  #mustGoAgain(job: Job, reply: Reply): boolean {
    const { status, headers } = reply.response;
    const setCookie = headers['set-cookie'];
    const { sessions } = this.#parts;
    if (reply.wasLimited && !this.#user.wantsStatus(status)) {
      if (setCookie !== undefined) sessions.storeCookies(job.session, reply.url, setCookie);
      return true;
    }
    if (setCookie !== undefined && this.#beginsChain(job))
      job.session = sessions.visitorOf(job.session, reply.hadCookies);
    const rotations = this.#rotations.get(job.leased) ?? 0;
    const attempt = rotations > 0 || job.proxyUrl !== null ? { rotations, proxyUrl: job.proxyUrl } : null;
    if (sessions.onResponse(job.session, reply.url, status, setCookie, attempt) !== 'rotate') return false;
    this.#rotations.set(job.leased, rotations + 1);
    return true;
  }

  #returnGrant(job: Job): void {
    this.#parts.gate.cancel(job.taken.key, this.#parts.ports.clock.nowMs());
    this.#parts.queue.released(job.leased.host);
  }

  async #afterResponse(job: Job, reply: Reply, navigation: NavigationOptions): Promise<void> {
    const context = this.contextOf(job);
    context.setResponse({ ...plainResponse(reply.response, reply.url), body: reply.response.body, json: undefined });
    for (const hook of this.#user.postNavigationHooks) await hook(context, navigation);
  }

  /** @throws RequestFailure when neither a route nor a handler of the user's knows the label */
  #findHandler(job: Job): void {
    const { routes } = this.#parts;
    const label = (job.isExposed ? job.request.label : job.leased.label) ?? null;
    if (label !== null && routes.labels.includes(label)) {
      job.route = routes.get(label);
      return;
    }
    job.handler = this.#user.handlerFor(job.request);
    if (label === null || job.handler !== null) return;
    const own = this.#user.knownLabels();
    if (own.length === 0) routes.get(label);
    const known = [...routes.labels, ...own].join(', ');
    throw new RequestFailure('UNKNOWN_LABEL', `Nothing handles the label "${label}"; known are ${known}`);
  }
}

/** A reply that is to be handled. */
type Replied = { reply: Reply; navigation: NavigationOptions | undefined };

/** A request with its secrets. */
type Prepared = Pick<PreparedRequest, 'ticket'> & { request: HttpRequest; secrets: Secrets };

/** What of a request must not leave its origin. */
type Secrets = Pick<Sending, 'secretHeaders' | 'hasSecretBody'>;

const NO_SECRETS: Secrets = Object.freeze({ secretHeaders: [], hasSecretBody: false });

/** What goes out, and to which host; request null = nothing does, the handler runs without a response. */
type Sendable = Omit<Prepared, 'request'> & {
  request: HttpRequest | null;
  kept: KeptResponse | null;
  host: string;
  navigation: NavigationOptions | undefined;
};

function bodyOrUndefined(response: HttpResponse, url: string): unknown {
  try {
    return parseJsonBody(response.body, response.headers, { status: response.status, url });
  } catch (error) {
    if (error instanceof InvalidJsonError) return undefined;
    throw error;
  }
}

function proxyInfoOf({ session, proxyUrl }: Job): ProxyInfo | undefined {
  if (proxyUrl === null) return undefined;
  const { hostname, port, username, password } = new URL(proxyUrl);
  return { url: proxyUrl, hostname, port, username, password, sessionId: session.id };
}

function poisonFailure(job: Job, lost: number): RequestFailure {
  return new RequestFailure('POISON', `The process died ${lost} times while it worked on ${job.request.url}`);
}

/** @returns the error as an Error, whatever was thrown */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
}
