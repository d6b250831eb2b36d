import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BottleneckSpec } from './bottleneck-server.ts';

const SCRIPT = fileURLToPath(new URL('bottleneck-server.ts', import.meta.url));

/** A server that is one bottleneck, in a process of its own. */
export class Bottleneck {
  readonly origin: string;
  /** Of a forward proxy, where some were asked for. */
  readonly proxyPort: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, { origin, proxyPort }: { origin: string; proxyPort: number }) {
    this.#child = child;
    this.origin = origin;
    this.proxyPort = proxyPort;
  }

  static async start(spec: BottleneckSpec): Promise<Bottleneck> {
    const child = spawn(process.execPath, [SCRIPT, JSON.stringify(spec)], { stdio: ['pipe', 'pipe', 'inherit'] });
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`The server ended with ${code} before it listened`);
    });
    const [line] = (await Promise.race([once(child.stdout!, 'data'), failed])) as [Buffer];
    failed.catch(() => {});
    return new Bottleneck(child, JSON.parse(line.toString()));
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await exited;
  }
}
