import type { HostConfig, SessionPoolConfig } from '../config/host-schema.ts';
import { CrawlError, messageOf } from '../core/errors.ts';
import type { EventSink } from '../core/events.ts';
import type { Ports } from '../core/ports.ts';
import { CrawlSessionPool } from './crawl-session-pool.ts';
import { type Reveal, readCredentials } from './credential.ts';
import { type AttemptIdentity, HostPool, type SessionVerdict } from './host-pool.ts';
import type { HostSession } from './host-session.ts';
import { parseProxyList } from './proxy-list.ts';
import { hostOfSavedKey, SAVED_SESSIONS_PREFIX, type SavedHost, savedKeyOf } from './saved-sessions.ts';

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
  readonly #written = new Map<string, string>();
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
  readyAtMs(host: string): number {
    return this.#poolOf(host).readyAtMs();
  }

  /** Why nothing more can be sent to the host (its proxies are dead for stallSecs); null while something can. */
  givenUp(host: string): string | null {
    return this.#hosts.get(host)?.givenUp() ?? null;
  }

  /**
   * Takes the session for one request.
   * @param key the governor key that was granted
   * @param stickyId the session that must send it; another one when that has been retired. With `keysOf(host,
   *   stickyId)` asked before, its key is the granted one
   */
  take(host: string, key: string, stickyId?: string): HostSession {
    const pool = this.#poolOf(host);
    const sticky = stickyId === undefined ? undefined : this.#findSticky(host, stickyId);
    return sticky ?? pool.take(key);
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
    for (const [host, pool] of this.#hosts) await this.#write(host, pool.save());
  }

  /** Reads what an earlier process wrote. Call before the first request. */
  async restore(): Promise<void> {
    for (const [key, saved] of await this.#options.values.entries<SavedHost>(SAVED_SESSIONS_PREFIX)) {
      this.#saved.set(hostOfSavedKey(key), saved);
      this.#written.set(hostOfSavedKey(key), JSON.stringify(saved));
    }
  }

  async #write(host: string, saved: SavedHost | null): Promise<void> {
    const json = saved === null ? '' : JSON.stringify(saved);
    if (json === (this.#written.get(host) ?? '')) return;
    if (saved === null) await this.#options.values.delete(savedKeyOf(host));
    else await this.#options.values.set(savedKeyOf(host), saved);
    this.#written.set(host, json);
  }

  #findSticky(host: string, id: string): HostSession | undefined {
    // A host's sessions are restored with its pool.
    this.#poolOf(host);
    const session = this.crawleePool.find(id);
    return session?.host === host && session.isUsable() ? session : undefined;
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
    this.#saved.delete(host);
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

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'StopSignal');
}
