import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** An address that stays while what is behind it changes, as a virtual IP or a proxy does for a database. */
export class Relay {
  readonly port: number;
  readonly #server: ReturnType<typeof createServer>;
  readonly #sockets = new Set<Socket>();
  #targetPort: number;

  private constructor(server: ReturnType<typeof createServer>, targetPort: number) {
    this.#server = server;
    this.#targetPort = targetPort;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => this.#join(socket));
  }

  static async open(targetPort: number): Promise<Relay> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Relay(server, targetPort);
  }

  /** Whoever connects from now on is led there; those connected are cut off. */
  leadTo(targetPort: number): void {
    this.#targetPort = targetPort;
    this.#cut();
  }

  close(): void {
    this.#server.close();
    this.#cut();
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(socket: Socket): void {
    const target = connect(this.#targetPort, '127.0.0.1');
    for (const [one, other] of [
      [socket, target],
      [target, socket],
    ] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      // Either end may be cut off at any time: that is what it is for.
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
