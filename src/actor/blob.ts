import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { EnvironmentError } from '../core/errors.ts';
import type { PlatformRecords } from './platform.ts';

/** What is kept of a file beside its parts; written last, so that it always names complete ones. */
export type BlobFacts = { version: 1; generation: number; parts: number; sha256: string };

// A record may have 9 MB.
const PART_BYTES = 8_000_000;

/**
 * Keeps a file of any size under one name in a key-value store: compressed, in parts. The parts of an earlier one are
 * deleted when the new one is complete.
 */
export async function saveBlob(records: PlatformRecords, name: string, file: string): Promise<void> {
  const before = await loadFacts(records, name);
  const generation = (before?.generation ?? 0) + 1;
  const sha256 = createHash('sha256');
  let parts = 0;
  await pipeline(createReadStream(file), createZstdCompress(), async (stream: AsyncIterable<Buffer>) => {
    for await (const part of partsOf(stream, sha256)) {
      await records.set(partKey(name, { generation, part: parts }), part, 'application/zstd');
      parts += 1;
    }
  });
  const facts: BlobFacts = { version: 1, generation, parts, sha256: sha256.digest('hex') };
  await records.set(name, JSON.stringify(facts), 'application/json');
  if (before !== null) await deleteParts(records, name, before);
}

/**
 * Writes a kept file back.
 * @returns whether there was one
 * @throws EnvironmentError when it is damaged
 */
export async function loadBlob(records: PlatformRecords, name: string, file: string): Promise<boolean> {
  const facts = await loadFacts(records, name);
  if (facts === null) return false;
  const partial = `${file}.partial`;
  await pipeline(storedParts(records, name, facts), createZstdDecompress(), createWriteStream(partial));
  await rename(partial, file);
  return true;
}

async function loadFacts(records: PlatformRecords, name: string): Promise<BlobFacts | null> {
  const stored = await records.get(name);
  return stored === null ? null : (JSON.parse(stored.toString()) as BlobFacts);
}

async function* partsOf(stream: AsyncIterable<Buffer>, sha256: Hash): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    sha256.update(chunk);
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < PART_BYTES) continue;
    yield Buffer.concat(chunks);
    chunks = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(chunks);
}

async function* storedParts(records: PlatformRecords, name: string, facts: BlobFacts): AsyncGenerator<Buffer> {
  const sha256 = createHash('sha256');
  for (let part = 0; part < facts.parts; part++) {
    const stored = await records.get(partKey(name, { ...facts, part }));
    if (stored === null) throw damaged(name, `part ${part + 1} of ${facts.parts} is gone`);
    sha256.update(stored);
    yield stored;
  }
  if (sha256.digest('hex') !== facts.sha256) throw damaged(name, 'its parts do not belong together');
}

async function deleteParts(records: PlatformRecords, name: string, facts: BlobFacts): Promise<void> {
  for (let part = 0; part < facts.parts; part++) await records.delete(partKey(name, { ...facts, part }));
}

function partKey(name: string, { generation, part }: { generation: number; part: number }): string {
  return `${name}-${generation}-${part}`;
}

function damaged(name: string, why: string): EnvironmentError {
  return new EnvironmentError(`Record ${name} of the key-value store cannot be read: ${why}`);
}
