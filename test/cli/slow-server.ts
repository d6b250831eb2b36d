import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export type SlowServer = {
  url: string;
  /** Paths asked for, without robots.txt. */
  asked: string[];
  /** Resolves when so many paths have been asked for. */
  whenAsked(count: number): Promise<void>;
};

/** Serves `{"path": ...}` after `delayMs`; null = never. Closed after the test. */
export async function slowServer(delayMs: number | null): Promise<SlowServer> {
  const asked: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end();
    asked.push(request.url ?? '');
    for (const { count, resolve } of waiting) if (asked.length >= count) resolve();
    if (delayMs !== null) setTimeout(() => response.end(JSON.stringify({ path: request.url })), delayMs);
    return undefined;
  });
  const url = await listen(server);
  const whenAsked = (count: number): Promise<void> =>
    asked.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }));
  return { url, asked, whenAsked };
}

/** Listens on a free loopback port until the test has finished. @returns the base URL */
export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
