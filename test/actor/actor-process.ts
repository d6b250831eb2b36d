import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FakeApify } from './fake-apify.ts';

const BIN = new URL('../../bin/millrace.mjs', import.meta.url).pathname;

/** One container of an Actor run: a process with an empty disk. */
export class ActorProcess {
  readonly folder: string;
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  #output = '';

  constructor(platform: FakeApify, env: Record<string, string> = {}) {
    // The same path in every container of a run, and nothing in it.
    this.folder = platform.workdir;
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
    const { CRAWLEE_STORAGE_DIR, npm_command, ...inherited } = process.env;
    this.child = spawn(process.execPath, [BIN], {
      cwd: this.folder,
      env: { ...inherited, ...platform.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.on('data', (data) => {
        this.#output += String(data);
      });
    this.ended = once(this.child, 'close').then(([code]) => code as number | null);
  }

  get output(): string {
    return this.#output;
  }

  /** Waits for something to have happened; fails should the process end before. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`The Actor ended before:\n${this.#output}`);
      await sleep(20);
    }
  }

  /** What becomes of a container in the end, whatever it does. */
  async destroy(): Promise<void> {
    if (this.child.exitCode === null) this.child.kill('SIGKILL');
    await this.ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}
