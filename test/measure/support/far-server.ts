// A server of JSON at an address of its namespace, after a constant time: `far-server.ts SPEC`, prints its port.
import { createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export type FarServerSpec = {
  address: string;
  protocol: 'http' | 'https' | 'http2';
  certificate: { key: string; cert: string };
  latencyMs: number;
  bodyBytes: number;
  /** Whether every answer ends its connection; no when left out. */
  closes?: boolean;
};

const spec = JSON.parse(process.argv[2] ?? '{}') as FarServerSpec;
const body = JSON.stringify({ pad: 'x'.repeat(spec.bodyBytes) });

const answer = (
  _request: unknown,
  response: {
    writeHead(status: number, headers: Record<string, string | number>): unknown;
    end(text: string): unknown;
  },
): void => {
  setTimeout(() => {
    const ending: Record<string, string> = spec.closes ? { connection: 'close' } : {};
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, ...ending });
    response.end(body);
  }, spec.latencyMs);
};

const server =
  spec.protocol === 'http'
    ? createServer(answer)
    : spec.protocol === 'https'
      ? createTlsServer(spec.certificate, answer)
      : createSecureServer({ ...spec.certificate, allowHTTP1: true }, answer as never);
server.listen(0, spec.address, () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.on('end', () => process.exit(0)).resume();
