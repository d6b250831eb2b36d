import { createRequire } from 'node:module';
import type { Session, SessionState } from '@crawlee/core';

// The copy that Crawlee's Session works with: an import would load a second one, whose classes are others.
const toughCookie: typeof import('tough-cookie', { with: { 'resolution-mode': 'require' }}) = createRequire(
  import.meta.url,
)('tough-cookie');

/** The cookies to send to URLs that start with `prefix`, until `expiresAtMs` (epoch ms). */
type CookieText = { prefix: string; text: string; version: number; expiresAtMs: number };

const NOTHING: CookieText = { prefix: '\0', text: '', version: -1, expiresAtMs: 0 };
const WRITES = ['putCookie', 'updateCookie', 'removeCookie', 'removeCookies', 'removeAllCookies'] as const;

/**
 * A tough-cookie jar that remembers what it answered last: looking cookies up takes microseconds, and most APIs set
 * theirs for the whole origin. Whoever writes to the jar, a handler included, is noticed.
 */
export class SessionCookies {
  readonly jar: Session['cookieJar'];
  readonly #onWrite: () => void;
  #version = 0;
  #last = NOTHING;

  constructor(onWrite: () => void, saved?: SessionState['cookieJar']) {
    const store = new toughCookie.MemoryCookieStore();
    this.#onWrite = onWrite;
    this.#watch(store);
    this.jar = saved ? toughCookie.CookieJar.deserializeSync(saved, store) : new toughCookie.CookieJar(store);
  }

  /** Whether there never was a cookie. */
  get isUntouched(): boolean {
    return this.#version === 0;
  }

  /** @returns the value of the Cookie header; empty when there is none to send */
  textFor(url: string, wallMs: number): string {
    const last = this.#last;
    if (url.startsWith(last.prefix) && last.version === this.#version && wallMs < last.expiresAtMs) return last.text;
    return this.#look(url, wallMs);
  }

  /** @returns whether the cookie was taken; false for one that is malformed or for another domain */
  take(setCookie: string, url: string): boolean {
    return this.jar.setCookieSync(setCookie, url, { ignoreError: true }) !== undefined;
  }

  #look(url: string, wallMs: number): string {
    const cookies = this.jar.getCookiesSync(url, { allPaths: true });
    if (cookies.some((cookie) => cookie.path !== '/')) return this.jar.getCookieStringSync(url);
    const text = cookies.map((cookie) => cookie.cookieString()).join('; ');
    const expiries = cookies.map((cookie) => cookie.expiryTime() ?? Number.POSITIVE_INFINITY);
    const expiresAtMs = Math.min(wallMs + LONGEST_MEMORY_MS, ...expiries);
    this.#last = { prefix: `${new URL(url).origin}/`, text, version: this.#version, expiresAtMs };
    return text;
  }

  // Its methods are overloaded for promises and callbacks, which an override would have to repeat.
  #watch(store: InstanceType<typeof toughCookie.MemoryCookieStore>): void {
    for (const name of WRITES) {
      const write = store[name] as (...given: unknown[]) => unknown;
      const watched = (...given: unknown[]): unknown => {
        this.#version += 1;
        this.#onWrite();
        return Reflect.apply(write, store, given);
      };
      Object.defineProperty(store, name, { value: watched });
    }
  }
}

// The system's clock may be set back or forward under us.
const LONGEST_MEMORY_MS = 60_000;
