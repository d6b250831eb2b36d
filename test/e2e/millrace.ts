import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Summary } from '../../src/core/summary.ts';
import { commandWithin, type Within } from '../fixtures/namespaces.ts';

const BIN = new URL('../../bin/millrace.mjs', import.meta.url).pathname;

export type Finished = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };

/** A millrace process under way. */
export type Started = { child: ChildProcess; finished: Promise<Finished> };

/** A folder of its own, with what a person would do in it. Remove it with `remove`. */
export class Workplace {
  readonly folder: string;
  readonly storage: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.storage = join(folder, 'storage');
  }

  static async open(): Promise<Workplace> {
    return new Workplace(await mkdtemp(join(tmpdir(), 'millrace-e2e-')));
  }

  /** @param within a network namespace to start it in; left out = ours */
  start(args: readonly string[], env: Record<string, string> = {}, within?: string): Started {
    const own: Within = [process.execPath, [BIN, ...args]];
    const child = spawn(...(within === undefined ? own : commandWithin(within, ...own)), {
      cwd: this.folder,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin?.end();
    return { child, finished: finish(child) };
  }

  run(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
    return this.start(args, env).finished;
  }

  /** Runs a crawl with --json. */
  async crawl(args: readonly string[]): Promise<Finished & { summary: Summary }> {
    const finished = await this.run([...args, '--json']);
    if (finished.stdout === '') throw new Error(`No summary; exit ${finished.code}:\n${finished.stderr}`);
    return { ...finished, summary: JSON.parse(finished.stdout) as Summary };
  }

  async write(name: string, text: string): Promise<string> {
    const path = join(this.folder, name);
    await writeFile(path, text);
    return path;
  }

  /** The records of a run's dataset, from its JSON export. */
  async records<T>(run: string, dataset = 'default'): Promise<T[]> {
    const file = join(this.storage, 'runs', run, 'exports', `${dataset}.json`);
    return JSON.parse(await readFile(file, 'utf8')) as T[];
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function finish(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  return { code, signal, stdout, stderr };
}

/** `count` URLs of a server, one a line. */
export function urlList(base: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `${base}/items/${index + 1}\n`).join('');
}
