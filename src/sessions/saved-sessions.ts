import type { SessionState } from '@crawlee/core';
import type { SavedHealth } from './health.ts';

/** A session as the run's store keeps it. Credential and proxy by name: their secrets stay where they are configured. */
export type SavedSession = { credential: string | null; proxy: string | null; state: SessionState };

/** What the run's store keeps of one host's sessions, under `sessions/<host>`. */
export type SavedHost = {
  isSecure: boolean;
  sessions: SavedSession[];
  credentials: Record<string, SavedHealth>;
  proxies: Record<string, SavedHealth>;
};

/** A session that requests are bound to: kept on its own, in the transaction of the requests. */
export type SavedBoundSession = SavedSession & { host: string; isSecure: boolean };

const PREFIX = 'sessions/';
const BOUND_PREFIX = 'bound-session/';

/** Every saved host's key starts with it. */
export const SAVED_SESSIONS_PREFIX = PREFIX;

export function savedKeyOf(host: string): string {
  return `${PREFIX}${host}`;
}

export function hostOfSavedKey(key: string): string {
  return key.slice(PREFIX.length);
}

/** Every saved bound session's key starts with it. */
export const BOUND_SESSIONS_PREFIX = BOUND_PREFIX;

export function boundKeyOf(sessionId: string): string {
  return `${BOUND_PREFIX}${sessionId}`;
}
