import { hostConfig } from '../../src/config/host-config.ts';
import type { HostEntry } from '../../src/config/host-schema.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { CrawlEvent } from '../../src/core/events.ts';
import { type Log, silentLog } from '../../src/core/log.ts';
import { createSessionPools, type SessionPools, type SessionStore } from '../../src/sessions/session-pools.ts';

const EPOCH_MS = Date.UTC(2026, 0, 1);

export type FakeClock = Clock & { pass(ms: number): void };

/** A clock that stands until it is told to go on. */
export function fakeClock(startMs = 0): FakeClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    wallMs: () => EPOCH_MS + nowMs,
    sleep: () => Promise.reject(new Error('nothing here sleeps')),
    schedule: () => () => {},
    pass(ms) {
      nowMs += ms;
    },
  };
}

/** A run's values that outlive the pools, as JSON. */
export function memoryStore(): SessionStore & { jsons: Map<string, string>; writes: number } {
  const jsons = new Map<string, string>();
  return {
    jsons,
    writes: 0,
    async set(key, value) {
      this.writes += 1;
      jsons.set(key, JSON.stringify(value));
    },
    async delete(key) {
      this.writes += 1;
      jsons.delete(key);
    },
    async entries<T>(prefix: string) {
      const found = [...jsons].filter(([key]) => key.startsWith(prefix));
      return found.map(([key, json]): [string, T] => [key, JSON.parse(json) as T]);
    },
  };
}

export type Bench = {
  pools: SessionPools;
  clock: FakeClock;
  events: CrawlEvent[];
  store: ReturnType<typeof memoryStore>;
};

/** Session pools with a fake clock. `secrets` are what `${env:NAME}` and `${file:PATH}` stand for. */
export function poolsOf(
  hosts: Record<string, HostEntry>,
  options: {
    secrets?: Record<string, string>;
    clock?: FakeClock;
    store?: ReturnType<typeof memoryStore>;
    remainingOf?: (key: string) => number;
    log?: Log;
  } = {},
): Bench {
  const { clock = fakeClock(), store = memoryStore(), secrets = {}, remainingOf, log = silentLog } = options;
  const events: CrawlEvent[] = [];
  const pools = createSessionPools({
    hostConfig: (host) => hostConfig(hosts, host),
    ports: { clock, random: () => 0.5, log },
    reveal: revealFrom(secrets),
    values: store,
    onEvent: (event) => events.push(event),
    ...(remainingOf && { remainingOf }),
  });
  return { pools, clock, events, store };
}

export function revealFrom(secrets: Record<string, string>): (text: string) => string {
  return (text) =>
    text.replaceAll(/\$\{(?:env|file):([^}]+)\}/g, (whole, name: string) => {
      if (secrets[name] === undefined) throw new Error(`${whole} is not set`);
      return secrets[name];
    });
}

/** Credentials named a, b, c, ... whose header is x-key. */
export function credentialsNamed(...names: string[]) {
  return names.map((name) => ({ name, headers: { 'X-Key': `secret-${name}` } }));
}
