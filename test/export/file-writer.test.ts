import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ByteChunk } from '../../src/export/byte-chunk.ts';
import { FileWriter } from '../../src/export/file-writer.ts';

let folder: string;
let file: FileHandle;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-file-writer-'));
  file = await open(join(folder, 'x'), 'wx');
});
afterEach(async () => {
  await file.close();
  rmSync(folder, { recursive: true });
});

const MB = 1024 * 1024;

test('chunks from two buffers that take turns come to the file whole and in order', async () => {
  const writer = new FileWriter(file);
  const buffers = [Buffer.alloc(MB), Buffer.alloc(MB)] as const;
  // Enough for the disk to be asked to take some before the end.
  for (let count = 0; count < 80; count++) await writer.write(buffers[count % 2 === 0 ? 0 : 1].fill(count));
  await writer.end();
  const written = readFileSync(join(folder, 'x'));
  expect(written.length).toBe(80 * MB);
  for (let count = 0; count < 80; count++)
    expect(written.subarray(count * MB, (count + 1) * MB).equals(Buffer.alloc(MB, count))).toBe(true);
});

test('a file of no chunks is empty', async () => {
  await new FileWriter(file).end();
  expect(readFileSync(join(folder, 'x')).length).toBe(0);
});

test('a write that fails is told by the next call, and only there', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const readOnly = await open(join(folder, 'x'), 'r');
  try {
    const writer = new FileWriter(readOnly);
    await writer.write(Buffer.from('x'));
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    await expect(writer.write(Buffer.from('y'))).rejects.toThrow('EBADF');
    await expect(writer.end()).rejects.toThrow('EBADF');
  } finally {
    await readOnly.close();
    process.off('unhandledRejection', note);
  }
  expect(unhandled).toEqual([]);
});

test('a sync that failed on the way is told at the end: the system tells it once', async () => {
  const write = async (chunk: Uint8Array, at: number) => ({ bytesWritten: chunk.byteLength - at, buffer: chunk });
  const datasync = async () => {
    throw new Error('EIO');
  };
  const writer = new FileWriter({ write, datasync, sync: async () => undefined } as unknown as FileHandle);
  await writer.write(Buffer.alloc(32 * MB));
  await writer.write(Buffer.alloc(1));
  await expect(writer.end()).rejects.toThrow('EIO');
});

test('a chunk holds while the next is collected', () => {
  const chunk = new ByteChunk(4);
  chunk.writeText('first');
  const first = chunk.take();
  chunk.writeText('second');
  expect(first.toString()).toBe('first');
  const second = chunk.take();
  chunk.writeText('3');
  expect([second.toString(), chunk.written.toString()]).toEqual(['second', '3']);
});
