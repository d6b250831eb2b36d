import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
export const BIN = join(PROJECT, 'bin/millrace.mjs');

export type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };
export type Started = { child: ChildProcess; ended: Promise<Ended>; output: () => string };

export type RunOptions = { cwd?: string; env?: Record<string, string>; stdin?: string; command?: string };

/** A folder of its own, gone after the test. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts millrace as a process of its own; it is killed should the test end before it. */
export function start(args: readonly string[], options: RunOptions = {}): Started {
  const command = options.command ?? process.execPath;
  const argv = options.command === undefined ? [BIN, ...args] : args;
  const cwd = options.cwd ?? emptyFolder();
  const child = spawn(command, argv, { cwd, env: environment(options.env), stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data: Buffer) => {
    stdout += data.toString();
  });
  child.stderr.on('data', (data: Buffer) => {
    stderr += data.toString();
  });
  child.stdin.on('error', () => {}); // A process that has ended does not read what it is given.
  child.stdin.end(options.stdin ?? '');
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ended, output: () => stdout + stderr };
}

/** Runs millrace to its end. */
export function run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return start(args, options).ended;
}

/** The messages on stderr, each without the program's name. */
export function messages({ stderr }: Ended): string[] {
  return stderr
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^millrace: /, ''));
}

function environment(added: Record<string, string> = {}): Record<string, string | undefined> {
  const { NO_COLOR, FORCE_COLOR, CRAWLEE_STORAGE_DIR, npm_command, ...others } = process.env;
  return { ...others, ...added };
}
