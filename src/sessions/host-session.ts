import { Session, type SessionPool, type SessionState } from '@crawlee/core';
import type { SessionPoolConfig } from '../config/host-schema.ts';
import type { Clock } from '../core/clock.ts';
import { randomHex } from '../core/random.ts';
import { SECOND_MS } from '../core/units.ts';
import type { Credential } from './credential.ts';
import type { ProxyServer } from './proxy-list.ts';
import { SessionCookies } from './session-cookies.ts';

/** What the sessions of one host have in common. */
export type SessionHome = {
  readonly host: string;
  readonly policy: SessionPoolConfig;
  readonly blockedStatusCodes: ReadonlySet<number>;
  /** What Crawlee calls the session's pool: events go through it. */
  readonly crawleePool: SessionPool;
  readonly log: Session['log'];
  readonly clock: Clock;
  readonly httpPrefix: string;
  readonly httpsPrefix: string;
  /** Whether the host was ever reached by https: then its credentials never go over http. */
  isSecure: boolean;
  /** Whether any of its sessions ever had a cookie: then one session is not like another. */
  hasCookies: boolean;
};

/** Who a session is. */
export type SessionIdentity = { credential: Credential | null; proxy: ProxyServer | null };

// Crawlee's constructor validates each option and makes a log of its own: 0.3 ms a session, against microseconds
// here, and a crawl of many hosts makes many. All methods but those below are Crawlee's; instanceof holds.
const SessionWithoutConstructor = function lean() {} as unknown as new () => Session;
SessionWithoutConstructor.prototype = Session.prototype;

/** A Crawlee Session that belongs to one host, with its own cookies, proxy and credential. */
export class HostSession extends SessionWithoutConstructor {
  readonly host: string;
  /** The governor key its requests count under. */
  readonly key: string;
  readonly credential: Credential | null;
  /** null = none, or another one for each request. */
  proxy: ProxyServer | null;
  /** Whether requests wait for it alone: then it is kept for them when it is too old or used up for others. */
  isBound = false;
  readonly #home: SessionHome;
  #isRetired = false;
  #expiresAtMs: number;
  #cookies: SessionCookies | null = null;

  constructor(home: SessionHome, identity: SessionIdentity & { key: string }, saved?: SessionState) {
    super();
    this.host = home.host;
    this.key = identity.key;
    this.credential = identity.credential;
    this.proxy = identity.proxy;
    this.#home = home;
    const createdAtMs = saved ? Date.parse(saved.createdAt) : home.clock.wallMs();
    this.#expiresAtMs = createdAtMs + home.policy.maxAgeSecs * SECOND_MS;
    // The fields that Crawlee's constructor sets.
    Object.assign(this, {
      id: saved?.id ?? `session_${randomHex(8)}`,
      maxAgeSecs: home.policy.maxAgeSecs,
      userData: saved?.userData ?? {},
      sessionPool: home.crawleePool,
      log: home.log,
      _maxErrorScore: home.policy.maxErrorScore,
      _errorScoreDecrement: 0.5,
      _createdAt: new Date(createdAtMs),
      _expiresAt: new Date(this.#expiresAtMs),
      _usageCount: saved?.usageCount ?? 0,
      _maxUsageCount: home.policy.maxUsageCount,
      _errorScore: saved?.errorScore ?? 0,
    });
    if (saved?.cookieJar) this.#makeCookies(saved.cookieJar);
  }

  /** Whether somebody has retired it, as who it is was refused. One that is used up or too old has not been. */
  get isRetired(): boolean {
    return this.#isRetired;
  }

  /**
   * Whether what is bound to it goes on with somebody else: it was retired, or its credential was refused again after a
   * rest. One refusal is waited for, as a new secret or another moment may end it.
   */
  get isLost(): boolean {
    return this.#isRetired || (this.credential?.health.failures ?? 0) > 1;
  }

  override retire(): void {
    this.#isRetired = true;
    super.retire();
  }

  override get cookieJar(): Session['cookieJar'] {
    return (this.#cookies ?? this.#makeCookies()).jar;
  }

  /** Whether it ever had a cookie. */
  get hasCookies(): boolean {
    return this.#cookies !== null && !this.#cookies.isUntouched;
  }

  override isExpired(): boolean {
    return this.#home.clock.wallMs() >= this.#expiresAtMs;
  }

  // What Crawlee calls when a session is used up or has made too many errors.
  protected override _maybeSelfRetire(): void {
    if (!this.isUsable()) super.retire();
  }

  override retireOnBlockedStatusCodes(statusCode: number, more: number[] = []): boolean {
    const isBlocked = this.#home.blockedStatusCodes.has(statusCode) || more.includes(statusCode);
    if (isBlocked) this.retire();
    return isBlocked;
  }

  /**
   * Keeps cookies of a response, also of a redirect.
   * @returns how many the server may not set, or that cannot be read
   */
  storeCookies(url: string, setCookie: string | readonly string[]): number {
    const cookies = this.#cookies ?? this.#makeCookies();
    const list = typeof setCookie === 'string' ? [setCookie] : setCookie;
    return list.filter((text) => !cookies.take(text, url)).length;
  }

  /**
   * @returns the headers this session adds to a request to the URL: its cookies for that URL, and its credential if
   *   the URL is on its own host; null when there are none
   */
  headersFor(url: string): Readonly<Record<string, string>> | null {
    const own = this.credential !== null && this.#mayCarryCredential(url) ? this.credential.headers() : null;
    if (!this.hasCookies) return own;
    const cookie = this.#cookies!.textFor(url, this.#home.clock.wallMs());
    if (cookie === '') return own;
    return { ...own, cookie: own?.cookie === undefined ? cookie : `${own.cookie}; ${cookie}` };
  }

  /** Monotonic ms at which its credential, and the proxy it keeps, may be used; not later than now when they may. */
  readyAtMs(nowMs: number): number {
    const keptProxy = this.#home.policy.rotation === 'sticky' ? null : this.proxy;
    return Math.max(...[this.credential, keptProxy].map((member) => readyAtMs(member, nowMs)));
  }

  #mayCarryCredential(url: string): boolean {
    const home = this.#home;
    if (url.startsWith(home.httpsPrefix)) {
      home.isSecure = true;
      return true;
    }
    if (url.startsWith(home.httpPrefix)) return !home.isSecure;
    // Written in another way: upper case, the default port, no path.
    const { host, protocol } = new URL(url);
    return host === this.host && (protocol === 'https:' || !home.isSecure);
  }

  #makeCookies(saved?: SessionState['cookieJar']): SessionCookies {
    const onWrite = (): void => {
      this.#home.hasCookies = true;
    };
    this.#cookies = new SessionCookies(onWrite, saved);
    return this.#cookies;
  }
}

function readyAtMs(member: Credential | ProxyServer | null, nowMs: number): number {
  return member === null || member.health.canUse(nowMs) ? nowMs : member.health.readyAtMs;
}
