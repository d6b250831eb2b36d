import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = join(ROOT, 'src');
export const DIST = join(ROOT, 'dist');

/**
 * Compiles src/ to dist/, as Node strips no types inside node_modules: JavaScript of everything, types of what the
 * library exports, and the files that the sources read.
 * @throws Error with the compiler's words
 */
export function buildPackage(): void {
  rmSync(DIST, { recursive: true, force: true });
  compile('tsconfig.json');
  compile('tsconfig.types.json');
  for (const file of filesIn(SOURCES)) if (!file.endsWith('.ts')) copy(file);
  for (const file of filesIn(DIST)) if (/\.(js|d\.ts)$/.test(file)) nameCompiledFiles(join(DIST, file));
}

function compile(config: string): void {
  const compiler = join(ROOT, 'node_modules/.bin/tsc');
  const { status, stdout, error } = spawnSync(compiler, ['-p', join(import.meta.dirname, config)], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`tsc -p ${config} failed: ${error?.message ?? stdout}`, { cause: error });
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

function copy(file: string): void {
  mkdirSync(dirname(join(DIST, file)), { recursive: true });
  copyFileSync(join(SOURCES, file), join(DIST, file));
}

/** The compiler leaves two kinds of names as they are: of worker threads, and in types. */
function nameCompiledFiles(path: string): void {
  const text = readFileSync(path, 'utf8');
  const renamed = path.endsWith('.js')
    ? text.replaceAll(/(new URL\('\.{1,2}\/[^']+)\.ts('[,)])/g, '$1.js$2')
    : text.replaceAll(/((?:from|import) '\.{1,2}\/[^']+|import\("\.{1,2}\/[^"]+)\.ts(['"])/g, '$1.js$2');
  const left = /['"`]\.{1,2}\/[^'"`]*\.ts['"`]/.exec(renamed);
  if (left !== null) throw new Error(`${path} still names a source file: ${left[0]}`);
  if (renamed !== text) writeFileSync(path, renamed);
}
