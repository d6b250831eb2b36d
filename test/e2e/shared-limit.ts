import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { type FixtureServer, serve } from '../fixtures/servers/serve.ts';
import { limitByTokenBucket, type TokenBucketOptions } from '../fixtures/servers/token-bucket-server.ts';

/** A request as the server saw it; times are ms. */
export type SeenRequest = { atMs: number; path: string; status: number };

/** A server with a limit that keeps all it has seen. */
export type LimitedServer = FixtureServer & { readonly seen: readonly SeenRequest[] };

/** Serves a token bucket; robots.txt is there, allows all, and is not counted. */
export async function serveLimited(options: TokenBucketOptions): Promise<LimitedServer> {
  const seen: SeenRequest[] = [];
  const respond = limitByTokenBucket(options);
  const server = await serve((arrival) => {
    if (arrival.path === '/robots.txt') return { status: 404 };
    const reply = respond(arrival);
    if ('status' in reply) seen.push({ atMs: arrival.atMs, path: arrival.path, status: reply.status });
    return reply;
  });
  return { ...server, seen };
}

/** The same in a process of its own. */
export type LimitedProcess = {
  url: string;
  /** Waits until it has seen so many requests. */
  untilSeen(count: number): Promise<void>;
  seen(): Promise<SeenRequest[]>;
  close(): Promise<void>;
};

const PRIORITY = -10;

/**
 * What comes is to be counted when it comes: a server that waits for its turn, in a busy process or on a busy machine, takes
 * what has come meanwhile for a burst.
 */
export async function serveLimitedApart(options: TokenBucketOptions): Promise<LimitedProcess> {
  const child = fork(new URL('shared-limit-process.ts', import.meta.url), [JSON.stringify(options)]);
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The limited server ended with ${signal ?? code}`);
  });
  const heard = async <T>(): Promise<T> => ((await Promise.race([once(child, 'message'), ended])) as [T])[0];
  const ask = <T>(question: 'count' | 'seen'): Promise<T> => {
    child.send(question);
    return heard<T>();
  };
  const url = await heard<string>();
  if (process.getuid?.() === 0) setPriority(child.pid!, PRIORITY);
  return {
    url,
    untilSeen: async (count) => {
      while ((await ask<number>('count')) < count) await setTimeout(50);
    },
    seen: () => ask<SeenRequest[]>('seen'),
    close: async () => {
      child.disconnect();
      await ended.catch(() => {});
    },
  };
}

/** @returns the most requests within any `windowMs` */
export function mostWithin(windowMs: number, seen: readonly SeenRequest[]): number {
  let most = 0;
  for (let first = 0, last = 0; last < seen.length; last++) {
    while (seen[last]!.atMs - seen[first]!.atMs >= windowMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** Answered requests/s between the first and the last answer. */
export function goodputOf(seen: readonly SeenRequest[]): number {
  const answered = seen.filter(({ status }) => status === 200);
  const firstMs = answered[0]?.atMs ?? 0;
  const lastMs = answered.at(-1)?.atMs ?? 0;
  return ((answered.length - 1) * 1_000) / (lastMs - firstMs);
}
