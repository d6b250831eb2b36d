import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Relay = { port: number; close(): Promise<void> };

/**
 * Passes connections on to a port of this machine, every piece of data `delayMs` late each way: handshakes and answers
 * take as long as from afar, connecting alone does not.
 */
export async function startDelayingRelay(targetPort: number, delayMs: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer({ noDelay: true }, (near) => {
    const far = keep(connect({ port: targetPort, host: '127.0.0.1', noDelay: true }));
    pass(keep(near), far, delayMs);
    pass(far, near, delayMs);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function pass(from: Socket, to: Socket, delayMs: number): void {
  from.on('data', (data) => setTimeout(() => to.writable && to.write(data), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
}
