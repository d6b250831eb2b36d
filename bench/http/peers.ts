import { Pool } from 'undici';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { parseJsonBody } from '../../src/http/bodies.ts';
import type { HttpClient } from '../../src/http/client.ts';
import { createUndiciClient } from '../../src/http/undici-client.ts';

/** One way to fetch and parse a page. */
export type Peer = { name: string; fetch: (path: string) => Promise<unknown>; close: () => Promise<void> };

export type PeerOptions = { origin: string; connections: number; ca: string };

const TIMEOUTS = { connectMs: 10_000, firstByteMs: 30_000, idleMs: 30_000, totalMs: 60_000 };

export function bareRequest({ origin, connections, ca }: PeerOptions): Peer {
  const pool = new Pool(origin, { connections, connect: { ca } });
  return {
    name: 'bare undici, request() and body.json()',
    fetch: async (path) => (await pool.request({ path, method: 'GET' })).body.json(),
    close: () => pool.close(),
  };
}

export function bareDispatch({ origin, connections, ca }: PeerOptions): Peer {
  const pool = new Pool(origin, { connections, connect: { ca, preferH2: true } });
  const fetch = (path: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      pool.dispatch(
        { path, method: 'GET' },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData: (_controller, chunk) => void chunks.push(chunk),
          onResponseEnd: () =>
            resolve(JSON.parse((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString())),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  return { name: 'bare undici, dispatch with a small handler', fetch, close: () => pool.close() };
}

export function millrace(options: PeerOptions): Peer {
  return ours('millrace send() and JSON.parse', options, (body) => JSON.parse(body.toString()));
}

export function millraceExact(options: PeerOptions): Peer {
  return ours('millrace send() and parseJsonBody()', options, (body, url) =>
    parseJsonBody(body, {}, { status: 200, url }),
  );
}

function ours(
  name: string,
  { origin, connections, ca }: PeerOptions,
  parse: (body: Buffer, url: string) => unknown,
): Peer {
  const client: HttpClient = createUndiciClient({
    ports: { clock: systemClock, random: Math.random, log: silentLog },
    maxConnectionsPerOrigin: connections,
    blockPrivateAddresses: false,
    trust: { ca },
  });
  // As in a crawl: every request carries the run's signal.
  const { signal } = new AbortController();
  const fetch = async (path: string): Promise<unknown> => {
    const url = origin + path;
    const { body } = await client.send(
      {
        url,
        method: 'GET',
        headers: {},
        body: null,
        timeouts: TIMEOUTS,
        maxBodyBytes: 1e8,
        proxyUrl: null,
        http2: 'auto',
      },
      signal,
    );
    return parse(body, url);
  };
  return { name, fetch, close: () => client.close() };
}
