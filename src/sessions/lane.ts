import type { SessionState } from '@crawlee/core';
import type { Credential } from './credential.ts';
import { HostSession, type SessionHome, type SessionIdentity } from './host-session.ts';
import type { ProxyServer } from './proxy-list.ts';
import type { Roster } from './roster.ts';

/** Told of sessions that come and go. */
export type SessionRegistry = { add(session: HostSession): void; remove(session: HostSession): void };

export type LaneOptions = {
  home: SessionHome;
  key: string;
  /** Sessions kept at once. */
  capacity: number;
  /** The identities its sessions may have. */
  credentials: Roster<Credential>;
  proxies: Roster<ProxyServer>;
  registry: SessionRegistry;
};

// Each has served its maxUsageCount or maxAgeSecs: a crawl of a million requests leaves a thousand.
const MOST_FORMER = 1_000;

/** The sessions of one host that share one governor key. */
export class Lane {
  readonly key: string;
  /** `[key]`, for those who want a list. */
  readonly keys: readonly string[];
  readonly credentials: Roster<Credential>;
  readonly proxies: Roster<ProxyServer>;
  readonly #home: SessionHome;
  readonly #capacity: number;
  readonly #registry: SessionRegistry;
  readonly #sessions: HostSession[] = [];
  /** Used up or too old for new requests, kept for those that are bound to them; the oldest first. */
  readonly #former: HostSession[] = [];
  #next = 0;

  constructor(options: LaneOptions) {
    this.key = options.key;
    this.keys = Object.freeze([options.key]);
    this.credentials = options.credentials;
    this.proxies = options.proxies;
    this.#home = options.home;
    this.#capacity = options.capacity;
    this.#registry = options.registry;
  }

  get sessions(): readonly HostSession[] {
    return this.#sessions;
  }

  /** Sessions that are there only for requests that are bound to them. */
  get formerSessions(): readonly HostSession[] {
    return this.#former;
  }

  /** Whether a session keeps a proxy; otherwise each request gets the next one. */
  get bindsProxy(): boolean {
    return this.proxies.size === 1 || this.#home.policy.rotation !== 'perRequest';
  }

  /** When a request may go: one of its credentials and one of its proxies must be well. */
  readyAtMs(nowMs: number): number {
    return Math.max(this.credentials.readyAtMs(nowMs), this.proxies.readyAtMs(nowMs));
  }

  /**
   * Takes the next session in turn; new ones are made up to the lane's capacity, where one is not like another.
   * Sessions that are used up make room for new ones; those whose proxy rests are passed over while there are others.
   */
  take(): HostSession {
    if (this.#sessions.length < this.#wanted()) return this.#add(this.#build());
    for (let tries = 0; tries < this.#sessions.length; tries++) {
      const session = this.#step();
      if (session.proxy === null || session.proxy.health.canUse(this.#home.clock.nowMs())) return session;
    }
    return this.#step();
  }

  /** Whether its sessions could have this identity. */
  fits({ credential, proxy }: SessionIdentity): boolean {
    const { credentials, proxies } = this;
    const fitsCredential = credential === null ? credentials.size === 0 : credentials.members.includes(credential);
    const fitsProxy = proxy === null ? proxies.size === 0 || !this.bindsProxy : proxies.members.includes(proxy);
    return fitsCredential && fitsProxy;
  }

  /** Adds a session of an earlier process, if it is still of use. */
  restore(identity: SessionIdentity, { state, isBound }: { state: SessionState; isBound: boolean }): void {
    const session = new HostSession(this.#home, { key: this.key, ...identity }, state);
    session.isBound = isBound;
    if (this.#sessions.length < this.#capacity && session.isUsable()) this.#add(session);
    else if (isBound) this.#keepForBound(session);
  }

  #wanted(): number {
    const isDiverse = this.credentials.size > 1 || (this.proxies.size > 1 && this.bindsProxy);
    return isDiverse || this.#home.hasCookies ? this.#capacity : 1;
  }

  #step(): HostSession {
    const index = this.#next < this.#sessions.length ? this.#next : 0;
    this.#next = index + 1;
    const session = this.#sessions[index] as HostSession;
    return session.isUsable() ? session : this.#replace(session, index);
  }

  #replace(old: HostSession, index: number): HostSession {
    if (old.isBound && !old.isRetired) this.#keepForBound(old);
    else this.#registry.remove(old);
    const session = this.#build();
    this.#sessions[index] = session;
    this.#registry.add(session);
    return session;
  }

  /** @returns another session with the same identity, but none of its cookies: nobody else takes it */
  fork(session: HostSession): HostSession {
    const { credential, proxy } = session;
    return new HostSession(this.#home, { key: this.key, credential, proxy });
  }

  /** Keeps a session for the requests that are bound to it, if it is not in turn for others. */
  keepForBound(session: HostSession): void {
    if (this.#sessions.includes(session) || this.#former.includes(session)) return;
    this.#keepForBound(session);
  }

  #keepForBound(session: HostSession): void {
    this.#registry.add(session);
    this.#former.push(session);
    if (this.#former.length > MOST_FORMER) this.#registry.remove(this.#former.shift() as HostSession);
  }

  #add(session: HostSession): HostSession {
    this.#sessions.push(session);
    this.#registry.add(session);
    return session;
  }

  #build(): HostSession {
    const nowMs = this.#home.clock.nowMs();
    const credential = this.credentials.pick(nowMs);
    const proxy = this.bindsProxy ? this.proxies.pick(nowMs) : null;
    return new HostSession(this.#home, { key: this.key, credential, proxy });
  }
}
