import { Agent, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import type { OpenedSocket, TlsTrust } from './open-socket.ts';

/** How a new connection is made: along the client's route, within the time limit of the request that needs it. */
export type ConnectTo = (target: {
  hostname: string;
  port: number;
  connectMs: number;
  fingerprint: TlsTrust;
}) => Promise<OpenedSocket>;

/** Request options of ours that reach the agent with Node's. */
export type RouteRequestOptions = ClientRequestArgs & TlsTrust & { connectMs: number };

type Callback = (error: Error | null, socket: Duplex) => void;

/** An agent of kept-alive connections that are opened by us: DNS cache, proxy, TLS verified. */
export class RouteAgent extends Agent {
  readonly protocol: 'http:' | 'https:';
  readonly #connect: ConnectTo;

  constructor(options: { secure: boolean; connect: ConnectTo }) {
    super({ keepAlive: true, scheduling: 'lifo' });
    this.protocol = options.secure ? 'https:' : 'http:';
    Object.assign(this, { defaultPort: options.secure ? 443 : 80 });
    this.#connect = options.connect;
  }

  override createConnection(options: ClientRequestArgs, callback?: Callback): undefined {
    const { host, port, connectMs, ciphers, ecdhCurve, sigalgs, secureOptions } = options as RouteRequestOptions;
    const fingerprint = definedOnly({ ciphers, ecdhCurve, sigalgs, secureOptions });
    this.#connect({ hostname: host ?? 'localhost', port: Number(port), connectMs, fingerprint }).then(
      ({ socket }) => callback?.(null, socket),
      // Node looks at the error alone then.
      (error: Error) => callback?.(error, undefined as unknown as Duplex),
    );
    return undefined;
  }
}

function definedOnly<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
