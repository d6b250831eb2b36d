import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Task } from './task.ts';

const SCRIPT = fileURLToPath(new URL('./child.ts', import.meta.url));

/** A real process that works on a run, and dies when told. */
export class Victim {
  readonly #child: ChildProcess;
  readonly #messages: unknown[] = [];
  readonly #waiting: ((message: unknown) => void)[] = [];
  readonly #ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  constructor(task: Task) {
    this.#child = fork(SCRIPT, [JSON.stringify(task)], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#ended = once(this.#child, 'exit').then(([code, signal]) => ({ code, signal }));
    this.#child.on('message', (message) => {
      const next = this.#waiting.shift();
      if (next) next(message);
      else this.#messages.push(message);
    });
  }

  /** @returns what the process says next @throws Error when it ends instead */
  async next<T>(): Promise<T> {
    if (this.#messages.length > 0) return this.#messages.shift() as T;
    const said = new Promise<unknown>((resolve) => this.#waiting.push(resolve));
    const ended = this.#ended.then(({ code, signal }) => {
      throw new Error(`The process ended (code ${code}, signal ${signal}) before it said anything more`);
    });
    // Messages sent just before the end are delivered before 'exit'.
    return (await Promise.race([said, ended])) as T;
  }

  tell(message: string): void {
    this.#child.send(message);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.ended();
  }

  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return this.#ended;
  }
}
