import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FarServerSpec } from './far-server.ts';

const CLIENT = '10.231.7.1';
const SERVER = '10.231.7.2';

/** Why there can be no far network here; null when there can. With CI=true there must be one. */
export function whyNotFar(): string | null {
  if (process.env.CI === 'true') return null;
  try {
    accessSync('/dev/net/tun', constants.R_OK | constants.W_OK);
    execFileSync('ip', ['netns', 'list'], { stdio: 'ignore' });
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
  } catch (error) {
    return `TUN, ip and python3 are needed: ${error instanceof Error ? error.message : error}`;
  }
  return process.getuid?.() === 0 ? null : 'namespaces need root';
}

/** Two network namespaces with a slow link between them. */
export class FarNetwork {
  readonly serverAddress = SERVER;
  readonly #client: string;
  readonly #server: string;
  readonly #children: ChildProcess[] = [];

  private constructor(name: string) {
    this.#client = `${name}c`;
    this.#server = `${name}s`;
  }

  /** @param delayMs of every packet, one way: a round trip takes twice as long */
  static async open(delayMs: number): Promise<FarNetwork> {
    const network = new FarNetwork(`millrace${process.pid}`);
    for (const namespace of [network.#client, network.#server]) execFileSync('ip', ['netns', 'add', namespace]);
    const script = fileURLToPath(new URL('far-link.py', import.meta.url));
    const link = network.#start('python3', [script, network.#client, CLIENT, network.#server, SERVER, String(delayMs)]);
    await firstLine(link);
    return network;
  }

  /** Starts a server on the far side. @returns its URL's origin */
  async serve(spec: Omit<FarServerSpec, 'address'>): Promise<string> {
    const script = fileURLToPath(new URL('far-server.ts', import.meta.url));
    const text = JSON.stringify({ ...spec, address: SERVER } satisfies FarServerSpec);
    const child = this.#start('ip', ['netns', 'exec', this.#server, process.execPath, script, text]);
    const port = await firstLine(child);
    return `${spec.protocol === 'http' ? 'http' : 'https'}://${SERVER}:${port}`;
  }

  /** Runs a program on the near side. @returns what it printed */
  async run(program: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const child = spawn('ip', ['netns', 'exec', this.#client, program, ...args], {
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
    for (const namespace of [this.#client, this.#server]) execFileSync('ip', ['netns', 'delete', namespace]);
  }

  #start(program: string, args: readonly string[]): ChildProcess {
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
