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
