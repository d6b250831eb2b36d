import { messageOf } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Credential } from './credential.ts';
import type { HostSession } from './host-session.ts';
import type { ProxyServer } from './proxy-list.ts';
import type { Roster } from './roster.ts';

// As Crawlee's maxSessionRotations: with a hundred proxies a forbidden URL must not be tried a hundred times.
const MOST_ROTATIONS = 10;

/** A response with a blocked status. */
export type Refusal = {
  session: HostSession;
  status: number;
  /** The proxy it came through. */
  proxy: ProxyServer | null;
  /** How often the request was told to rotate before. */
  rotations: number;
  nowMs: number;
};

/** Told what rests, and why. */
export type OnRest = (kind: 'proxy' | 'session', what: string, restUntilMs: number) => void;

/**
 * Decides about refused requests of a host: whether somebody else may try, and who rests meanwhile. A request that was
 * refused to everybody says that its resource is forbidden, and nothing about who asked.
 */
export class Refusals {
  readonly #credentials: Roster<Credential>;
  readonly #proxies: Roster<ProxyServer>;
  readonly #log: Log;
  readonly #onRest: OnRest;

  constructor(options: {
    credentials: Roster<Credential>;
    proxies: Roster<ProxyServer>;
    log: Log;
    onRest: OnRest;
  }) {
    this.#credentials = options.credentials;
    this.#proxies = options.proxies;
    this.#log = options.log;
    this.#onRest = options.onRest;
  }

  /** @returns whether the request should be sent again by another session; false = it has failed */
  judge(refusal: Refusal): boolean {
    if (this.#mayRotate(refusal)) {
      refusal.session.retire();
      return true;
    }
    if (refusal.rotations > 0) {
      this.#credentials.callBackFirstOffenders();
      this.#proxies.callBackFirstOffenders();
    }
    return false;
  }

  #mayRotate(refusal: Refusal): boolean {
    const { session, rotations } = refusal;
    const otherCredentials = Math.max(0, this.#credentials.size - 1);
    const otherProxies = Math.max(0, this.#proxies.size - 1);
    if (rotations === 0 && session.credential !== null && this.#hasNewSecret(session.credential)) return true;
    if (rotations >= Math.min(MOST_ROTATIONS, otherCredentials + otherProxies + (session.hasCookies ? 1 : 0)))
      return false;
    if (rotations < otherCredentials) return this.#restCredential(refusal);
    return otherProxies > 0 ? this.#restProxy(refusal) : true;
  }

  #restCredential({ session: { credential }, status, nowMs }: Refusal): boolean {
    if (credential === null || !this.#credentials.hasSubstituteFor(credential, nowMs)) return false;
    if (credential.health.fail(nowMs)) {
      this.#onRest(
        'session',
        `credential "${credential.name}" was refused with ${status}`,
        credential.health.readyAtMs,
      );
    }
    return true;
  }

  #restProxy({ proxy, status, nowMs }: Refusal): boolean {
    if (proxy === null || !this.#proxies.hasSubstituteFor(proxy, nowMs)) return false;
    if (proxy.health.fail(nowMs)) {
      this.#onRest('proxy', `proxy ${proxy.name} was refused with ${status}`, proxy.health.readyAtMs);
    }
    return true;
  }

  #hasNewSecret(credential: Credential): boolean {
    try {
      return credential.reread();
    } catch (error) {
      // Its file may be in the middle of being replaced; the secret read before stays in use.
      this.#log.warn(`Credential "${credential.name}" cannot be read again: ${messageOf(error)}`);
      return false;
    }
  }
}
