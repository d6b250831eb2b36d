import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
export const TOOLS = join(PROJECT, 'test/tools/node_modules');

const PACKED_FROM = ['bin', 'src', 'scripts', 'docs', 'package.json', 'README.md', 'CHANGELOG.md', 'LICENSE'];
const run = promisify(execFile);

export type Ended = { code: number; stdout: string; stderr: string };

/** A checkout of its own that shares the installed dependencies: packing changes the folder it works in. */
export function copyOfCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-pack-'));
  for (const name of [...PACKED_FROM, 'tsconfig.json'])
    cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs a program to its end with the Node that runs the tests, as npm, npx and #! lines find it. */
export async function runIn(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const { npm_command, CRAWLEE_STORAGE_DIR, ...others } = process.env;
  const options = { cwd, env: { ...others, PATH: path, NO_COLOR: '1', ...env }, maxBuffer: 64 * 1024 * 1024 };
  try {
    return { code: 0, ...(await run(command, args, options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
}

/** A project that has the packed package installed, and nothing else. */
export async function projectWith(tarball: string, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"name":"consumer","private":true,"type":"module"}\n');
  const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', tarball];
  const { code, stderr } = await runIn(folder, 'npm', args);
  if (code !== 0) throw new Error(`npm install failed:\n${stderr}`);
  return folder;
}
