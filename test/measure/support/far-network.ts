import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Namespace, type Within, whyNoNamespaces } from '../../fixtures/namespaces.ts';
import type { FarServerSpec } from './far-server.ts';

const CLIENT = '10.231.7.1';
const SERVER = '10.231.7.2';

/** Why there can be no far network here; null when there can. With CI=true there must be one. */
export function whyNotFar(): string | null {
  if (process.env.CI === 'true') return null;
  try {
    accessSync('/dev/net/tun', constants.R_OK | constants.W_OK);
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
  } catch (error) {
    return `TUN and python3 are needed: ${error instanceof Error ? error.message : error}`;
  }
  return whyNoNamespaces();
}

/** Two network namespaces with a slow link between them. */
export class FarNetwork {
  readonly serverAddress = SERVER;
  readonly #client: Namespace;
  readonly #server: Namespace;
  readonly #children: ChildProcess[] = [];

  private constructor(name: string) {
    this.#client = Namespace.add(`${name}c`);
    this.#server = Namespace.add(`${name}s`);
  }

  /** @param delayMs of every packet, one way: a round trip takes twice as long */
  static async open(delayMs: number): Promise<FarNetwork> {
    const network = new FarNetwork(`millrace${process.pid}`);
    const script = fileURLToPath(new URL('far-link.py', import.meta.url));
    const [client, server] = [network.#client.name, network.#server.name];
    const link = network.#start(['python3', [script, client, CLIENT, server, SERVER, String(delayMs)]]);
    await firstLine(link);
    return network;
  }

  /** Starts a server on the far side. @returns its URL's origin */
  async serve(spec: Omit<FarServerSpec, 'address'>): Promise<string> {
    const script = fileURLToPath(new URL('far-server.ts', import.meta.url));
    const text = JSON.stringify({ ...spec, address: SERVER } satisfies FarServerSpec);
    const child = this.#start(this.#server.within(process.execPath, [script, text]));
    const port = await firstLine(child);
    return `${spec.protocol === 'http' ? 'http' : 'https'}://${SERVER}:${port}`;
  }

  /** Runs a program on the near side. @returns what it printed */
  async run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const child = spawn(...this.#client.within(program, args), {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => (text += chunk));
    await once(child, 'close');
    return text;
  }

  async close(): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, 'exit');
      child.stdin?.end();
      await exited;
    }
    for (const namespace of [this.#client, this.#server]) namespace.remove();
  }

  #start([program, args]: Within): ChildProcess {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#children.push(child);
    return child;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`${child.spawnargs.join(' ').slice(0, 200)} ended with ${code}`);
  });
  const [chunk] = (await Promise.race([once(child.stdout!, 'data'), failed])) as [Buffer];
  return chunk.toString().trim();
}
