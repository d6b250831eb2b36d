import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { FAILURE_KINDS } from '../../src/core/failure-advice.ts';
import { silentLog } from '../../src/core/log.ts';
import { InvalidJsonError, readJsonBody } from '../../src/http/bodies.ts';
import type { HttpClient } from '../../src/http/client.ts';
import { HttpError } from '../../src/http/http-error.ts';
import { createUndiciClient } from '../../src/http/undici-client.ts';
import { cases, headerText, inTime } from './support/arbitrary.ts';

const HEADER_NAMES = [
  ...['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'connection', 'set-cookie'],
  ...['location', 'retry-after', 'link', 'etag', 'x-ratelimit-remaining', 'trailer', 'upgrade', '__proto__'],
];
const packings = [
  (body: Buffer) => ({ coding: 'gzip', body: gzipSync(body) }),
  (body: Buffer) => ({ coding: 'deflate', body: deflateSync(body) }),
  (body: Buffer) => ({ coding: 'br', body: brotliCompressSync(body) }),
];
const bodies = fc.oneof(
  fc.json().map((text) => Buffer.from(text)),
  fc.string({ unit: 'binary', maxLength: 200 }).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom('[', '{"a":', '\uFEFF{}', '1 2 3', 'nul', '"\\ud800"', '[1,]', '<html>', '')
    .map((text) => Buffer.from(text)),
);
/** A response as the bytes that a server sends: right, nearly right, or nonsense. */
const responses = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        status: fc.integer({ min: 200, max: 599 }),
        headers: headersOf(),
        body: bodies,
        packing: fc.option(fc.constantFrom(...packings)),
        cut: fc.double({ min: 0, max: 1, noNaN: true }),
      })
      .map(written),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        'HTTP/1.1 200\r\n\r\n',
        'HTTP/9.9 200 OK\r\n\r\n',
        'HTTP/1.1 999999 X\r\n\r\n',
        'SSH-2.0-x\r\n',
        '\r\n\r\n',
        'HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n',
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
        'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello',
        'HTTP/1.1 103 Early Hints\r\n\r\n',
      )
      .map((text) => Buffer.from(text)),
  },
);

function headersOf(): fc.Arbitrary<[string, string][]> {
  return fc.array(
    fc.tuple(
      fc.constantFrom(...HEADER_NAMES),
      headerText.filter((text) => text.length < 2_000),
    ),
    { maxLength: 4 },
  );
}

type Written = {
  status: number;
  headers: [string, string][];
  body: Buffer;
  packing: (typeof packings)[number] | null;
  cut: number;
};

/** Most of them whole, some cut off anywhere. */
function written({ status, headers, body, packing, cut }: Written): Buffer {
  const packed = packing === null ? { coding: null, body } : packing(body);
  const lines = [
    `HTTP/1.1 ${status} X`,
    `content-length: ${packed.body.length}`,
    ...(packed.coding === null ? [] : [`content-encoding: ${packed.coding}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const whole = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), packed.body]);
  return cut > 0.8 ? whole.subarray(0, Math.floor(whole.length * (cut - 0.8) * 5)) : whole;
}

describe('whatever a server answers', () => {
  let server: Server;
  let client: HttpClient;
  let answer: Buffer = Buffer.alloc(0);
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).once('close', () => sockets.delete(socket));
      // The connection ends with the answer: what lacks a part is not waited for.
      socket.once('data', () => socket.end(answer));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const ports = { clock: systemClock, random: () => 0.5, log: silentLog };
    client = createUndiciClient({ ports, maxConnectionsPerOrigin: 10, blockPrivateAddresses: false });
  });
  afterAll(async () => {
    await client.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  test('is a response or a failure with a code that is documented; a body is JSON or a typed failure', async () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/items`;
    await fc.assert(
      fc.asyncProperty(responses, async (bytes) => {
        answer = bytes;
        const outcome = await outcomeOf(client, url);
        if (outcome instanceof HttpError) expect(Object.keys(FAILURE_KINDS)).toContain(outcome.code);
        else readsOrTells(outcome.body, { ...outcome.headers });
      }),
      cases(400),
    );
  }, 120_000);
});

test('a body of any bytes and type is JSON, or a failure that says where it is wrong', () => {
  fc.assert(
    fc.property(bodies, headerText, (body, type) => readsOrTells(body, { 'content-type': type })),
    cases(500),
  );
});

test('a body nested very deep is refused, and does not end the process', () => {
  for (const [open, close] of ['[]', '{}'].map((pair) => [...pair] as [string, string])) {
    const text = open === '[' ? open.repeat(200_000) + close.repeat(200_000) : '{"a":'.repeat(200_000);
    expect(() => readJsonBody(Buffer.from(text), {}, { status: 200, url: 'https://x.example/' })).toThrow(
      InvalidJsonError,
    );
  }
});

async function outcomeOf(client: HttpClient, url: string) {
  const timeouts = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000, totalMs: 10_000 };
  const request = { url, method: 'GET', headers: {}, body: null, timeouts, maxBodyBytes: 1_000_000, proxyUrl: null };
  try {
    return await client.send({ ...request, http2: 'auto' }, new AbortController().signal);
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

function readsOrTells(body: Buffer, headers: Record<string, string | string[] | undefined>): void {
  try {
    inTime(() => readJsonBody(body, headers, { status: 200, url: 'https://x.example/' }));
  } catch (error) {
    if (!(error instanceof InvalidJsonError)) throw error;
    expect(error.code).toBe('INVALID_JSON');
  }
}
