import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { commandWithin } from '../../fixtures/namespaces.ts';
import type { Done, Task } from './task.ts';

const SCRIPT = fileURLToPath(new URL('./child.ts', import.meta.url));

/** A real process that works on a shared run. End it with `kill`, or await its end. */
export class WorkerProcess {
  readonly child: ChildProcess;
  readonly #messages: unknown[] = [];
  readonly #waiting: ((message: unknown) => void)[] = [];
  readonly #ended: Promise<NodeJS.Signals | number | null>;
  #errors = '';

  /** @param within a network namespace to start it in; left out = ours */
  constructor(task: Partial<Task> & Pick<Task, 'url' | 'run' | 'kind'>, within?: string) {
    const whole: Task = { leaseMs: 2_000, batch: 20, skewMs: 0, count: 0, isReverse: false, ...task };
    const args = [SCRIPT, JSON.stringify(whole)];
    const stdio = ['ignore', 'inherit', 'pipe', 'ipc'] as const;
    const command =
      within === undefined ? ([process.execPath, args] as const) : commandWithin(within, process.execPath, args);
    this.child = spawn(command[0], [...command[1]], { stdio: [...stdio] });
    this.#ended = once(this.child, 'exit').then(([code, signal]) => (signal ?? code) as NodeJS.Signals | number | null);
    this.child.stderr?.on('data', (chunk: Buffer) => (this.#errors += chunk));
    this.child.on('message', (message) => {
      const next = this.#waiting.shift();
      if (next) next(message);
      else this.#messages.push(message);
    });
  }

  /** @returns what the process says next @throws Error when it ends instead */
  async next<T>(): Promise<T> {
    if (this.#messages.length > 0) return this.#messages.shift() as T;
    const said = new Promise<unknown>((resolve) => this.#waiting.push(resolve));
    const ended = this.#ended.then((how) => {
      throw new Error(`The process ended (${how}) before it said anything more: ${this.#errors}`);
    });
    return (await Promise.race([said, ended])) as T;
  }

  /** Waits until it has found nothing to claim, for now. */
  async untilIdle(): Promise<void> {
    while ((await this.next<unknown>()) !== 'idle');
  }

  /** @returns what it says at its end, however often it told of claims before */
  async done(): Promise<Done> {
    for (;;) {
      const message = await this.next<unknown>();
      if (typeof message === 'object' && message !== null && 'committed' in message) return message as Done;
    }
  }

  tell(message: string): void {
    this.child.send(message);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#ended;
  }
}
