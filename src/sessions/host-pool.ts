import type { HostConfig } from '../config/host-schema.ts';
import type { EventSink } from '../core/events.ts';
import { hostOf } from '../core/host.ts';
import type { Ports } from '../core/ports.ts';
import { SECOND_MS } from '../core/units.ts';
import { type Credential, type Reveal, readCredentials } from './credential.ts';
import type { Moment } from './health.ts';
import type { HostSession, SessionHome } from './host-session.ts';
import type { Lane, SessionRegistry } from './lane.ts';
import { lanesOf } from './lanes-of.ts';
import { type ProxyServer, parseProxyList } from './proxy-list.ts';
import { Refusals } from './refusals.ts';
import { Roster } from './roster.ts';
import type { SavedBoundSession, SavedHost, SavedSession } from './saved-sessions.ts';

/** What a response means for the session that got it. */
export type SessionVerdict =
  /** It serves. */
  | 'ok'
  /** It was refused and there is another one: send the request again, at no cost. */
  | 'rotate'
  /** It was refused and there is no other: the request fails with its status. */
  | 'refused';

/** How the attempt was made, where that is not the plain case. */
export type AttemptIdentity = {
  /** How often this request was told to rotate before. */
  rotations: number;
  /** What `proxyOf` said. */
  proxyUrl: string | null;
};

export type HostPoolOptions = {
  host: string;
  config: HostConfig;
  ports: Ports;
  reveal: Reveal;
  onEvent: EventSink;
  /** How much a governor key has left; the more, the sooner it is used. */
  remainingOf: (key: string) => number;
  crawleePool: SessionHome['crawleePool'];
  sessionLog: SessionHome['log'];
  registry: SessionRegistry;
};

// The order of keys is kept for so long: asking the governor for each request would cost more than it gives.
const KEY_ORDER_MS = 20;
// Limits of the server, never the session's fault.
const NEVER_BLOCKED: ReadonlySet<number> = new Set([429, 503]);
// A proxy answers with these itself when it cannot reach the host.
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);
const NO_KEYS: readonly string[] = Object.freeze([]);

/** The sessions, credentials and proxies of one host. */
export class HostPool {
  readonly #options: HostPoolOptions;
  readonly #home: SessionHome;
  readonly #credentials: Roster<Credential>;
  readonly #proxies: Roster<ProxyServer>;
  readonly #lanes: readonly Lane[];
  readonly #refusals: Refusals;
  #keys = NO_KEYS;
  #keysUntilMs = Number.NEGATIVE_INFINITY;
  #allProxiesDownSinceMs: number | null = null;

  /** @throws UsageError or what `reveal` throws, when proxies or credentials cannot be read */
  constructor(options: HostPoolOptions) {
    const { config, reveal, registry } = options;
    this.#options = options;
    this.#credentials = new Roster(readCredentials(config.sessionPool.credentials, reveal));
    this.#proxies = new Roster(parseProxyList(config.sessionPool.proxyUrls.map(reveal)));
    this.#home = homeOf(options);
    const identities = { credentials: this.#credentials, proxies: this.#proxies };
    this.#lanes = lanesOf(config, { home: this.#home, registry, ...identities });
    this.#refusals = new Refusals({
      ...identities,
      log: options.ports.log,
      onRest: (kind, what, restUntilMs) => this.#tellRest(kind, what, restUntilMs),
    });
  }

  get sessions(): readonly HostSession[] {
    return this.#lanes.flatMap((lane) => lane.sessions);
  }

  /** Governor keys to try, best first; empty while every proxy or credential rests. */
  keys(): readonly string[] {
    if (this.#lanes.length === 1 && this.#proxies.size === 0) return this.#lanes[0]!.keys;
    const nowMs = this.#nowMs();
    if (nowMs >= this.#keysUntilMs) this.#orderKeys(nowMs);
    return this.#keys;
  }

  /** The one list that holds a session's key, or an empty one while its proxy or credential rests. */
  keysOfSession(session: HostSession): readonly string[] {
    return this.readyAtMsOf(session) <= this.#nowMs() ? this.#laneOf(session.key).keys : NO_KEYS;
  }

  /** Monotonic ms at which `keysOfSession` will have one; not later than now when it has. */
  readyAtMsOf(session: HostSession): number {
    const nowMs = this.#nowMs();
    return Math.max(session.readyAtMs(nowMs), this.#laneOf(session.key).readyAtMs(nowMs));
  }

  /** Monotonic ms at which `keys` will have one; not later than now when it has. */
  readyAtMs(): number {
    const nowMs = this.#nowMs();
    return Math.min(...this.#lanes.map((lane) => lane.readyAtMs(nowMs)));
  }

  /** Why nothing more can be sent; null while something can. */
  givenUp(): string | null {
    const sinceMs = this.#allProxiesDownSinceMs;
    if (sinceMs === null) return null;
    const downSecs = Math.floor((this.#nowMs() - sinceMs) / SECOND_MS);
    if (downSecs < this.#options.config.stallSecs) return null;
    return `none of its proxies (${this.#proxies.size}) has worked for ${downSecs} s`;
  }

  take(key: string): HostSession {
    return this.use(this.#laneOf(key).take());
  }

  /** The session is about to send a request. */
  use(session: HostSession): HostSession {
    if (session.credential !== null) this.#noteUse(session.credential);
    return session;
  }

  /** Chooses the proxy of one request and notes that it is used. */
  proxyFor(session: HostSession): string | null {
    if (this.#proxies.size === 0) return null;
    const proxy = this.#chooseProxy(session, this.#nowMs());
    this.#noteUse(proxy);
    return proxy.url;
  }

  judge(
    session: HostSession,
    answer: { url: string; status: number },
    attempt: AttemptIdentity | null,
  ): SessionVerdict {
    const { url, status } = answer;
    if (status < 400 || !this.#home.blockedStatusCodes.has(status)) {
      this.#vouch(session, status, attempt);
      return 'ok';
    }
    // A redirect led elsewhere: that host knows nothing of this one's identities.
    if (hostOf(url) !== this.#home.host) return 'refused';
    this.#keysUntilMs = Number.NEGATIVE_INFINITY;
    const rotates = this.#refusals.judge({
      session,
      status,
      proxy: this.#usedProxy(session, attempt),
      rotations: attempt?.rotations ?? 0,
      nowMs: this.#nowMs(),
    });
    return rotates ? 'rotate' : 'refused';
  }

  /** The proxy itself failed. */
  proxyFailed(session: HostSession, attempt: AttemptIdentity | null): void {
    const nowMs = this.#nowMs();
    const proxy = this.#usedProxy(session, attempt);
    if (proxy === null) return;
    const hasOthers = this.#laneOf(session.key).proxies.size > 1;
    if (session.proxy === proxy && hasOthers && this.#home.policy.rotation === 'perSession') session.retire();
    if (!proxy.health.fail(nowMs)) return;
    this.#keysUntilMs = Number.NEGATIVE_INFINITY;
    if (this.#proxies.members.every(({ health }) => health.failures > 0)) this.#allProxiesDownSinceMs ??= nowMs;
    this.#tellRest('proxy', `proxy ${proxy.name} failed`, proxy.health.readyAtMs);
  }

  /** @returns what is worth keeping over a restart; null when nothing is */
  save(): SavedHost | null {
    const moment = this.#moment();
    const sessions = this.sessions.filter(
      (session) => session.isUsable() && !session.isBound && this.#isWorthKeeping(session),
    );
    const credentials = this.#credentials.save(moment);
    const proxies = this.#proxies.save(moment);
    const isEmpty = sessions.length + Object.keys(credentials).length + Object.keys(proxies).length === 0;
    if (isEmpty) return null;
    return { isSecure: this.#home.isSecure, sessions: sessions.map(savedSessionOf), credentials, proxies };
  }

  fork(session: HostSession): HostSession {
    return this.#laneOf(session.key).fork(session);
  }

  /** Requests are bound to the session from now on. */
  bind(session: HostSession): void {
    if (session.isBound) return;
    session.isBound = true;
    this.#laneOf(session.key).keepForBound(session);
  }

  /** @returns the sessions that requests are bound to, but for those that were refused */
  boundSessions(): HostSession[] {
    const all = this.#lanes.flatMap((lane) => [...lane.sessions, ...lane.formerSessions]);
    return all.filter((session) => session.isBound && !session.isRetired);
  }

  /** @returns what is to be kept of a session that requests are bound to */
  saveBound(session: HostSession): SavedBoundSession {
    return { host: this.#home.host, isSecure: this.#home.isSecure, ...savedSessionOf(session) };
  }

  /** Takes over a session that requests of an earlier process are bound to. */
  loadBound(saved: SavedBoundSession): void {
    this.#home.isSecure ||= saved.isSecure;
    this.#restore(saved, true);
  }

  /** Takes over what an earlier process saved; what is no longer configured is left out. */
  load(saved: SavedHost): void {
    const moment = this.#moment();
    this.#home.isSecure = saved.isSecure;
    this.#credentials.load(saved.credentials, moment);
    this.#proxies.load(saved.proxies, moment);
    for (const session of saved.sessions) this.#restore(session, false);
  }

  #nowMs(): number {
    return this.#options.ports.clock.nowMs();
  }

  #moment(): Moment {
    const { clock } = this.#options.ports;
    return { nowMs: clock.nowMs(), wallMs: clock.wallMs() };
  }

  #laneOf(key: string): Lane {
    const first = this.#lanes[0]!;
    if (first.key === key) return first;
    return this.#lanes.find((lane) => lane.key === key) ?? first;
  }

  #orderKeys(nowMs: number): void {
    const ranked: { key: string; remaining: number }[] = [];
    this.#keysUntilMs = nowMs + KEY_ORDER_MS;
    for (const lane of this.#lanes) {
      const readyAtMs = lane.readyAtMs(nowMs);
      if (readyAtMs <= nowMs) ranked.push({ key: lane.key, remaining: this.#remainingOf(lane) });
      else this.#keysUntilMs = Math.min(this.#keysUntilMs, readyAtMs);
    }
    this.#keys = ranked.sort((a, b) => compareDescending(a.remaining, b.remaining)).map(({ key }) => key);
  }

  /** What one that was never used has left is not known: the first answer tells, so it is asked for early. */
  #remainingOf(lane: Lane): number {
    return lane.sessions.length === 0 ? Number.POSITIVE_INFINITY : this.#options.remainingOf(lane.key);
  }

  /** One that comes back from a rest is tried by one request alone. */
  #noteUse(member: Credential | ProxyServer): void {
    if (member.health.failures === 0) return;
    member.health.use(this.#nowMs());
    this.#keysUntilMs = Number.NEGATIVE_INFINITY;
  }

  #chooseProxy(session: HostSession, nowMs: number): ProxyServer {
    const { proxies } = this.#laneOf(session.key);
    if (session.proxy === null) return proxies.pick(nowMs)!;
    const mayMove = this.#home.policy.rotation === 'sticky';
    if (mayMove && !session.proxy.health.canUse(nowMs)) session.proxy = proxies.pick(nowMs);
    return session.proxy!;
  }

  #usedProxy(session: HostSession, attempt: AttemptIdentity | null): ProxyServer | null {
    const url = attempt?.proxyUrl ?? null;
    if (url === null) return session.proxy;
    return this.#proxies.members.find((proxy) => proxy.url === url) ?? null;
  }

  /** An answer that is no refusal: whoever was used for it works. */
  #vouch(session: HostSession, status: number, attempt: AttemptIdentity | null): void {
    const mayBeProxys = this.#proxies.size === 0 || GATEWAY_STATUSES.has(status);
    const proxy = mayBeProxys ? null : this.#usedProxy(session, attempt);
    if (proxy?.health.heal()) {
      this.#allProxiesDownSinceMs = null;
      this.#tellBack('proxy', `proxy ${proxy.name} works again`);
    }
    const { credential } = session;
    if (status < 400 && credential?.health.heal(this.#nowMs()))
      this.#tellBack('session', `credential "${credential.name}" is accepted again`);
  }

  #isWorthKeeping(session: HostSession): boolean {
    return this.#home.policy.sticky || session.hasCookies || Object.keys(session.userData).length > 0;
  }

  #restore({ credential: credentialName, proxy: proxyName, state }: SavedSession, isBound: boolean): void {
    const credential = this.#credentials.get(credentialName);
    const proxy = this.#proxies.get(proxyName);
    const isGone = (credentialName !== null && credential === null) || (proxyName !== null && proxy === null);
    if (isGone) return;
    this.#lanes.find((lane) => lane.fits({ credential, proxy }))?.restore({ credential, proxy }, { state, isBound });
  }

  #tellRest(kind: 'proxy' | 'session', what: string, restUntilMs: number): void {
    const restSecs = Math.ceil((restUntilMs - this.#nowMs()) / SECOND_MS);
    this.#tell(kind, `${what}; it rests for ${restSecs} s`);
  }

  #tellBack(kind: 'proxy' | 'session', what: string): void {
    this.#keysUntilMs = Number.NEGATIVE_INFINITY;
    this.#tell(kind, what);
  }

  #tell(kind: 'proxy' | 'session', reason: string): void {
    const { host, ports, onEvent } = this.#options;
    onEvent({ atMs: ports.clock.wallMs(), kind, host, reason });
  }
}

function homeOf({ host, config, crawleePool, sessionLog, ports }: HostPoolOptions): SessionHome {
  const { blockedStatusCodes } = config.sessionPool;
  return {
    host,
    policy: config.sessionPool,
    blockedStatusCodes: new Set(blockedStatusCodes.filter((status) => !NEVER_BLOCKED.has(status))),
    crawleePool,
    log: sessionLog,
    clock: ports.clock,
    httpPrefix: `http://${host}/`,
    httpsPrefix: `https://${host}/`,
    isSecure: false,
    hasCookies: false,
  };
}

function savedSessionOf(session: HostSession): SavedSession {
  const { credential, proxy } = session;
  return { credential: credential?.name ?? null, proxy: proxy?.name ?? null, state: session.getState() };
}

/** For infinities, too, whose difference is no number. */
function compareDescending(a: number, b: number): number {
  return a === b ? 0 : b > a ? 1 : -1;
}
