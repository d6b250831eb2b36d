import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/**
 * Starts a forward proxy on 127.0.0.1 that lets everybody through, whatever user they name.
 * @param tunnelMs how long after it was asked to
 * @returns its port
 */
export async function startProxy(tunnelMs = 0): Promise<number> {
  const server = createServer();
  server.on('connect', (request, near) => {
    const [host = '127.0.0.1', port = '443'] = (request.url ?? '').split(':');
    const far = connect({ host, port: Number(port), noDelay: true }, () => {
      setTimeout(() => {
        near.write('HTTP/1.1 200 Connection established\r\n\r\n');
        near.pipe(far).pipe(near);
      }, tunnelMs);
    });
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
