import { createWriteStream, existsSync } from 'node:fs';
import { type FileHandle, link, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { systemClock } from '../core/clock.ts';
import { EnvironmentError, messageOf, UsageError } from '../core/errors.ts';
import { randomHex } from '../core/random.ts';
import { STDOUT } from './export-format.ts';
import { FileWriter } from './file-writer.ts';

/** Where an export goes, and what may be there already. */
export type Destination = {
  /** A file, or `-` for standard output. */
  path: string;
  /** Whether a file that is there was written by this run: the caller keeps count of what it has written. */
  isOwn?: (path: string) => boolean;
  /** Replace whatever is there. */
  force?: boolean;
  /** Standard output; process.stdout when left out. Borrowed: it is not ended. */
  stdout?: Writable;
};

export type WriteOptions = { gzip: boolean; signal?: AbortSignal };

/** bytes = as they are on the disk; complete = false when the reader of a pipe has gone. */
export type Written = { bytes: number; complete: boolean };

/**
 * Refuses what would destroy somebody else's file. To be called before anything is started, and once more by the
 * writing itself.
 * @throws UsageError when a file is there that is neither the run's own nor to be replaced; or a folder
 */
export async function checkDestination({ path, isOwn, force = false }: Destination): Promise<void> {
  if (path === STDOUT) return;
  const found = await statOrNull(path);
  if (found?.isDirectory()) throw new UsageError(`"${path}" is a folder: name a file`);
  if (found === null || !found.isFile() || force || isOwn?.(resolve(path))) return;
  throw new UsageError(`"${path}" is there already and was not written by this run: choose another name, or --force`);
}

/**
 * Writes a file as a whole or not at all: beside its place, then renamed. Pipes and devices are written directly.
 * @param chunks pulled only as fast as they can be written; each has to hold until the one after the next is pulled
 * @throws UsageError as checkDestination; EnvironmentError when the disk is full or the place cannot be written
 */
export async function writeWhole(
  destination: Destination,
  chunks: AsyncIterable<Uint8Array>,
  options: WriteOptions,
): Promise<Written> {
  const { path } = destination;
  if (path === STDOUT) {
    const pipe = { sink: destination.stdout ?? process.stdout, name: 'standard output', end: false };
    return writeToPipe(pipe, chunks, options);
  }
  await checkDestination(destination);
  const found = await statOrNull(path);
  if (found !== null && !found.isFile())
    return writeToPipe({ sink: createWriteStream(path), name: path, end: true }, chunks, options);
  // A link stays one: the file it points to is replaced.
  const target = found === null ? resolve(path) : await realpath(path);
  await removeStale(target);
  const partial = partialPath(target);
  try {
    const bytes = await writeNew(partial, chunks, options);
    await moveInto(partial, target, destination);
    return { bytes, complete: true };
  } catch (error) {
    throw writeProblem(error, path);
  } finally {
    await rm(partial, { force: true });
  }
}

async function writeNew(path: string, chunks: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<number> {
  if (options.gzip) {
    const file = createWriteStream(path, { flags: 'wx', flush: true });
    await pour(chunks, file, options);
    return file.bytesWritten;
  }
  const file = await open(path, 'wx');
  try {
    return await writeChunks(file, chunks, options.signal);
  } finally {
    await file.close();
  }
}

async function writeChunks(file: FileHandle, chunks: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<number> {
  const writer = new FileWriter(file);
  let bytes = 0;
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    await writer.write(chunk);
    bytes += chunk.byteLength;
  }
  await writer.end();
  return bytes;
}

// `link` fails where `rename` would replace: a file that came in between is not ours to destroy.
async function moveInto(partial: string, target: string, destination: Destination): Promise<void> {
  if (destination.force || destination.isOwn?.(target) || destination.isOwn?.(resolve(destination.path)))
    return rename(partial, target);
  try {
    await link(partial, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return checkDestination(destination);
    // File systems without hard links.
    await checkDestination(destination);
    await rename(partial, target);
  }
}

async function writeToPipe(
  { sink, name, end }: { sink: Writable; name: string; end: boolean },
  chunks: AsyncIterable<Uint8Array>,
  options: WriteOptions,
): Promise<Written> {
  let bytes = 0;
  const counted = async function* () {
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      yield chunk;
    }
  };
  try {
    await pour(counted(), sink, options, end);
    return { bytes, complete: true };
  } catch (error) {
    // `| head` has seen enough.
    if (codeOf(error) === 'EPIPE') return { bytes, complete: false };
    throw writeProblem(error, name);
  }
}

async function pour(
  chunks: AsyncIterable<Uint8Array>,
  sink: Writable,
  { gzip, signal }: WriteOptions,
  end = true,
): Promise<void> {
  // A stream keeps a chunk for longer than it holds.
  const source = Readable.from(copies(chunks), { objectMode: true, highWaterMark: 1 });
  if (gzip) await pipeline(source, createGzip(), sink, { end, signal });
  else await pipeline(source, sink, { end, signal });
}

/** Chunks of their own, for whoever keeps them until after the next. */
export async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}

const STALE_MS = 3_600_000;

function partialPath(target: string): string {
  return join(dirname(target), `.${basename(target)}.${randomHex(6)}.partial`);
}

// What a killed process left half-written: ours by its name, and nobody has written to it for an hour.
async function removeStale(target: string): Promise<void> {
  const folder = dirname(target);
  const prefix = `.${basename(target)}.`;
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (!name.startsWith(prefix) || !/^[0-9a-f]{12}\.partial$/.test(name.slice(prefix.length))) continue;
    const found = await statOrNull(join(folder, name));
    if (found !== null && systemClock.wallMs() - found.mtimeMs > STALE_MS)
      await rm(join(folder, name), { force: true });
  }
}

/** What a failed write has left, and what to do once there is room again: parts of the message. */
export type WriteOutcome = { left: string; next: string };

const EARLIER_FILE: WriteOutcome = { left: 'nothing was replaced', next: 'Free some space and export again' };

/** @returns the error of a write, in words a user can act on; any other as it came */
export function writeProblem(error: unknown, place: string, outcome: WriteOutcome = EARLIER_FILE): unknown {
  const code = codeOf(error) ?? '';
  const lack = LACKS[code];
  const message =
    lack === undefined
      ? refusalOf(error, { code, place })
      : `${lack}; ${outcome.left}${code in FULL ? `. ${outcome.next}` : ''}`;
  return message === undefined ? error : new EnvironmentError(`${place}: ${message}`, { cause: error });
}

function refusalOf(error: unknown, { code, place }: { code: string; place: string }): string | undefined {
  // Where the folder is there, as in /proc, only the system knows what it means.
  if (code === 'ENOENT' && existsSync(dirname(place))) return `the system does not create it (${messageOf(error)})`;
  return MESSAGES[code];
}

const FULL: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
};
const LACKS: Readonly<Record<string, string>> = {
  ...FULL,
  EFBIG: 'the file is larger than this file system takes',
  EIO: 'the disk failed',
};
const MESSAGES: Readonly<Record<string, string>> = {
  EACCES: 'not allowed to write there',
  EPERM: 'not allowed to write there',
  EROFS: 'the file system is read-only',
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'what should be its folder is a file',
  ENAMETOOLONG: 'the name is too long',
};

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

async function statOrNull(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw writeProblem(error, path);
  }
}
