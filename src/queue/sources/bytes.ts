import { createReadStream } from 'node:fs';
import { addAbortSignal, pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { EnvironmentError, messageOf } from '../../core/errors.ts';

// As Node reads files; its 16 KiB for zlib cost more than they save.
const CHUNK_BYTES = 64 * 1024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

export type Bytes = AsyncGenerator<Buffer, void, void>;

/** @returns the bytes of a file: opened only when they are asked for */
export function openFile(path: string): Readable {
  return createReadStream(path, { highWaterMark: CHUNK_BYTES });
}

/**
 * The bytes of a stream, unpacked where they are gzip, whatever its name says.
 * @param name for the message
 * @throws EnvironmentError when it cannot be read or unpacked to its end; the signal's reason when aborted
 */
export async function* unpackedBytes(stream: Readable, name: string, signal?: AbortSignal): Bytes {
  if (signal !== undefined) addAbortSignal(signal, stream);
  try {
    const { head, rest } = await splitHead(stream, GZIP_MAGIC.length);
    const isGzip = head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC);
    const packed = joined(head, rest);
    yield* isGzip ? gunzipped(packed) : packed;
  } catch (error) {
    signal?.throwIfAborted();
    throw new EnvironmentError(`${name} cannot be read to its end: ${messageOf(error)}`, { cause: error });
  } finally {
    stream.destroy();
  }
}

type Head = { head: Buffer; rest: AsyncIterator<Buffer> };

async function splitHead(stream: Readable, byteCount: number): Promise<Head> {
  const rest: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < byteCount) {
    const { value, done } = await rest.next();
    if (done) break;
    head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return { head, rest };
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): Bytes {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

async function* gunzipped(packed: Bytes): Bytes {
  // pipeline hands an error of either to the loop below, which is where it is dealt with.
  const gunzip = pipeline(Readable.from(packed), createGunzip({ chunkSize: CHUNK_BYTES }), () => {});
  for await (const bytes of gunzip) yield bytes as Buffer;
}
