import type { HostConfig, SessionPoolConfig } from '../config/host-schema.ts';
import { CrawlError, messageOf } from '../core/errors.ts';
import type { EventSink } from '../core/events.ts';
import type { Ports } from '../core/ports.ts';
import { CrawlSessionPool } from './crawl-session-pool.ts';
import { type Reveal, readCredentials } from './credential.ts';
import { type AttemptIdentity, HostPool, type SessionVerdict } from './host-pool.ts';
import type { HostSession } from './host-session.ts';
import { parseProxyList } from './proxy-list.ts';
import {
  BOUND_SESSIONS_PREFIX,
  boundKeyOf,
  hostOfSavedKey,
  SAVED_SESSIONS_PREFIX,
  type SavedBoundSession,
  type SavedHost,
  savedKeyOf,
} from './saved-sessions.ts';

export type { AttemptIdentity, SessionVerdict } from './host-pool.ts';
export type { HostSession } from './host-session.ts';

/** What of a run's ValueStore is needed. */
export interface SessionStore {
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Pairs whose key starts with the prefix. */
  entries<T>(prefix: string): Promise<[string, T][]>;
}

export type SessionPoolsOptions = {
  /** Must be cheap or remember its answers. */
  hostConfig: (host: string) => HostConfig;
  ports: Ports;
  /** Puts values in for `${env:NAME}` and `${file:PATH}`. Throws when one is not there. */
  reveal: Reveal;
  /** Where sessions are kept over a restart. */
  values: SessionStore;
  /** How much a governor key has left: with several keys the one with most goes first. None = in turn as configured. */
  remainingOf?: (key: string) => number;
  onEvent?: EventSink;
};

// Crawlee hands out sessions without naming a host; no URL has this one.
const NO_HOST = '';

/**
 * The identities of a crawl: for each host its sessions, each with its own cookies, proxy and credential. Everything
 * but persist and restore is synchronous; for a host with one credential or none, no proxy and no cookies, a request
 * costs less than a microsecond and allocates nothing.
 */
export class SessionPools {
  readonly #options: SessionPoolsOptions;
  readonly #hosts = new Map<string, HostPool>();
  readonly #saved = new Map<string, SavedHost>();
  readonly #savedBound = new Map<string, SavedBoundSession[]>();
  /** What the store has, by key. */
  readonly #written = new Map<string, string>();
  readonly #lostOf = new Set<string>();
  /** What Crawlee calls `crawler.sessionPool`. */
  readonly crawleePool: CrawlSessionPool;

  constructor(options: SessionPoolsOptions) {
    this.#options = options;
    this.crawleePool = new CrawlSessionPool({
      takeAny: () => this.take(NO_HOST, NO_HOST),
      persist: () => this.persist(),
    });
  }

  /**
   * Governor keys a request to the host may be sent under, best first.
   * @param stickyId id of the session that must send it: then its key alone
   * @returns empty while every proxy or credential rests; `readyAtMs` tells until when
   */
  keysOf(host: string, stickyId?: string): readonly string[] {
    const pool = this.#poolOf(host);
    const sticky = stickyId === undefined ? undefined : this.#findSticky(host, stickyId);
    return sticky === undefined ? pool.keys() : pool.keysOfSession(sticky);
  }

  /** Monotonic ms at which `keysOf` will have one; not later than now when it has. */
  readyAtMs(host: string, stickyId?: string): number {
    const pool = this.#poolOf(host);
    const sticky = stickyId === undefined ? undefined : this.#findSticky(host, stickyId);
    return sticky === undefined ? pool.readyAtMs() : pool.readyAtMsOf(sticky);
  }

  /** Why nothing more can be sent to the host (its proxies are dead for stallSecs); null while something can. */
  givenUp(host: string): string | null {
    return this.#hosts.get(host)?.givenUp() ?? null;
  }

  /**
   * Takes the session for one request.
   * @param key the governor key that was granted
   * @param stickyId the session that must send it. Another one does, with a warning, when that was refused and retired,
   *   or when the granted key is not its own, as its own makes no progress
   */
  take(host: string, key: string, stickyId?: string | null): HostSession {
    const pool = this.#poolOf(host);
    if (stickyId === undefined || stickyId === null) return pool.take(key);
    const sticky = this.#findSticky(host, stickyId);
    if (sticky?.key === key) return pool.use(sticky);
    this.#warnLost(host, stickyId);
    return pool.take(key);
  }

  /**
   * Who a response is for that makes its sender a new visitor. Requests that a session sends at once before it has any
   * cookie get one each, and only one of them can stay its own: the others' cursors belong to visitors of their own.
   * @param hadCookies whether the request was sent with cookies
   * @returns the session, or one like it without its cookies
   */
  visitorOf(session: HostSession, hadCookies: boolean): HostSession {
    return hadCookies || !session.hasCookies ? session : this.#poolOf(session.host).fork(session);
  }

  /**
   * Requests are about to be committed that only this session may send.
   * @returns what must be committed with them, so that a restart finds it; null when the store has it already
   */
  bind(session: HostSession): { key: string; json: string } | null {
    const pool = this.#poolOf(session.host);
    pool.bind(session);
    const key = boundKeyOf(session.id);
    const json = JSON.stringify(pool.saveBound(session));
    // What only counts its uses is written now and then.
    if (withoutUses(json) === withoutUses(this.#written.get(key) ?? '')) return null;
    this.#written.set(key, json);
    return { key, json };
  }

  /** The proxy for one request; null = none. Asked once for each request. The URL may hold a password. */
  proxyOf(session: HostSession): string | null {
    return this.#poolOf(session.host).proxyFor(session);
  }

  /**
   * Headers the session adds to a request: cookies for the URL, and its credential if the URL is on the session's own
   * host. Ask again for each hop of a redirect, and add them to the request's own headers, never to those of the hop
   * before: that would carry a credential to another host.
   * @returns null when there are none
   */
  headersFor(session: HostSession, url: string): Readonly<Record<string, string>> | null {
    return session.headersFor(url);
  }

  /**
   * Learns from a response, and says whether it refuses the session. Not to be asked about one that the governor
   * called `limited`: keep its cookies by `storeCookies`.
   * @param setCookie the Set-Cookie header as received
   * @param attempt left out for a first try without proxy
   */
  onResponse(
    session: HostSession,
    url: string,
    status: number,
    setCookie?: string | readonly string[],
    attempt: AttemptIdentity | null = null,
  ): SessionVerdict {
    if (setCookie !== undefined) this.storeCookies(session, url, setCookie);
    return this.#poolOf(session.host).judge(session, { url, status }, attempt);
  }

  /** Keeps the cookies of a response: also of redirects and refusals. */
  storeCookies(session: HostSession, url: string, setCookie: string | readonly string[]): void {
    const refused = session.storeCookies(url, setCookie);
    if (refused > 0) this.#options.ports.log.debug(`${refused} cookies from ${session.host} were not taken`);
  }

  /**
   * An attempt failed below HTTP or in its handler. A failed proxy rests and is not held against the session; an abort
   * is nobody's fault.
   */
  onFailure(session: HostSession, error: unknown, attempt: AttemptIdentity | null = null): void {
    if (error instanceof CrawlError && error.code === 'PROXY_FAILED') {
      this.#poolOf(session.host).proxyFailed(session, attempt);
    } else if (!isAbort(error)) {
      session.markBad();
    }
  }

  /** Writes what a restart must not lose, where it has changed. */
  async persist(): Promise<void> {
    for (const [host, pool] of this.#hosts) {
      await this.#write(savedKeyOf(host), pool.save());
      await this.#writeBound(host, pool);
    }
  }

  /** Reads what an earlier process wrote. Call before the first request. */
  async restore(): Promise<void> {
    for (const [key, saved] of await this.#options.values.entries<SavedHost>(SAVED_SESSIONS_PREFIX)) {
      this.#saved.set(hostOfSavedKey(key), saved);
      this.#written.set(key, JSON.stringify(saved));
    }
    for (const [key, saved] of await this.#options.values.entries<SavedBoundSession>(BOUND_SESSIONS_PREFIX)) {
      this.#savedBound.set(saved.host, [...(this.#savedBound.get(saved.host) ?? []), saved]);
      this.#written.set(key, JSON.stringify(saved));
    }
  }

  async #write(key: string, saved: SavedHost | SavedBoundSession | null): Promise<void> {
    const json = saved === null ? '' : JSON.stringify(saved);
    if (json === (this.#written.get(key) ?? '')) return;
    if (saved === null) await this.#options.values.delete(key);
    else await this.#options.values.set(key, saved);
    this.#written.set(key, json);
  }

  async #writeBound(host: string, pool: HostPool): Promise<void> {
    const sessions = pool.boundSessions();
    for (const session of sessions) await this.#write(boundKeyOf(session.id), pool.saveBound(session));
    const kept = new Set(sessions.map(({ id }) => boundKeyOf(id)));
    for (const [key, json] of this.#written) {
      if (!key.startsWith(BOUND_SESSIONS_PREFIX) || kept.has(key) || json === '') continue;
      if ((JSON.parse(json) as SavedBoundSession).host === host) await this.#write(key, null);
    }
  }

  #warnLost(host: string, id: string): void {
    const { ports, onEvent } = this.#options;
    const reason = `session ${id}, which requests of ${host} are bound to, is gone: others send them`;
    onEvent?.({ atMs: ports.clock.wallMs(), kind: 'session', host, reason });
    if (this.#lostOf.has(host)) return;
    this.#lostOf.add(host);
    ports.log.warn(
      `${host}: a sticky session was refused, or is not known here, so its pages go on with another one. Should the ` +
        'server refuse its cursors to that one, let the listing start again: responseActions with resetPagination',
      { session: id },
    );
  }

  #findSticky(host: string, id: string): HostSession | undefined {
    // A host's sessions are restored with its pool.
    this.#poolOf(host);
    const session = this.crawleePool.find(id);
    return session?.host === host && !session.isLost ? session : undefined;
  }

  #poolOf(host: string): HostPool {
    return this.#hosts.get(host) ?? this.#open(host);
  }

  #open(host: string): HostPool {
    const { hostConfig, ports, reveal, remainingOf = () => 0, onEvent = () => {} } = this.#options;
    const pool = new HostPool({
      host,
      config: hostConfig(host),
      ports,
      reveal,
      remainingOf,
      onEvent,
      crawleePool: this.crawleePool,
      sessionLog: this.crawleePool.sessionLog,
      registry: this.crawleePool,
    });
    const saved = this.#saved.get(host);
    if (saved !== undefined) pool.load(saved);
    for (const bound of this.#savedBound.get(host) ?? []) pool.loadBound(bound);
    this.#saved.delete(host);
    this.#savedBound.delete(host);
    this.#hosts.set(host, pool);
    return pool;
  }
}

/** @returns the session pools of one crawl; nothing is read or opened before a host's first request */
export function createSessionPools(options: SessionPoolsOptions): SessionPools {
  return new SessionPools(options);
}

/**
 * Checks one host's entry before the crawl starts: every reference leads somewhere, every proxy can be read.
 * @returns a line for each problem; no secret is in it
 */
export function sessionPoolProblems(config: SessionPoolConfig, reveal: Reveal): string[] {
  return [
    ...problemsOf(() => parseProxyList(config.proxyUrls.map(reveal))),
    ...problemsOf(() => readCredentials(config.credentials, reveal).map((credential) => credential.headers())),
  ];
}

function problemsOf(check: () => unknown): string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

function withoutUses(json: string): string {
  return json.replace(/"(?:usageCount|errorScore|lastAccessed)":(?:[\d.]+|"[^"]*"),?/g, '');
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'StopSignal');
}
