import { type Session, type SessionOptions, SessionPool } from '@crawlee/core';
import type { HostSession } from './host-session.ts';
import type { SessionRegistry } from './lane.ts';

/** What the pool asks of the host pools behind it. */
export type SessionSource = { takeAny: () => HostSession; persist: () => Promise<void> };

/**
 * What Crawlee calls `crawler.sessionPool`: all sessions of all hosts, by id, with Crawlee's events. Hosts are told
 * apart by the pools behind it, so that a session comes from `take(host, key)`; `getSession()` without an id, which
 * names no host, gives one that belongs to none.
 */
export class CrawlSessionPool extends SessionPool implements SessionRegistry {
  readonly #source: SessionSource;
  readonly #byId = new Map<string, HostSession>();

  constructor(source: SessionSource) {
    super({ persistenceOptions: { enable: false } });
    this.#source = source;
    // Crawlee's methods read these two; one list is kept instead of both.
    Object.defineProperty(this, 'sessions', { get: () => [...this.#byId.values()] });
    Object.defineProperty(this, 'sessionMap', { value: this.#byId });
    this.isInitialized = true;
  }

  /** The log that sessions write to. */
  get sessionLog(): Session['log'] {
    return this.log;
  }

  find(id: string): HostSession | undefined {
    return this.#byId.get(id);
  }

  add(session: HostSession): void {
    this.#byId.set(session.id, session);
  }

  remove(session: HostSession): void {
    this.#byId.delete(session.id);
  }

  override async getSession(id?: string): Promise<Session> {
    // Crawlee answers undefined for an id it does not know, whatever its types say.
    return id === undefined ? this.#source.takeAny() : (this.#usable(id) as Session);
  }

  override async addSession(_options?: Session | SessionOptions): Promise<void> {
    throw new TypeError('Sessions belong to a host here: set sessionPool.credentials or proxyUrls for it');
  }

  override async initialize(): Promise<void> {}

  override async persistState(): Promise<void> {
    await this.#source.persist();
  }

  override async teardown({ persistState = true } = {}): Promise<void> {
    if (persistState) await this.#source.persist();
  }

  #usable(id: string): HostSession | undefined {
    const session = this.#byId.get(id);
    return session?.isUsable() ? session : undefined;
  }
}
