import { Readable } from 'node:stream';

/** A value as it is stored: bytes, and what they are. */
export type StoredValue = { bytes: Uint8Array; contentType: string };

const JSON_TYPE = /^application\/json\s*(;|$)/i;
const TEXT_TYPE = /^(application\/json|application\/[^;]*xml|text\/[^;]+)\s*(;|$)/i;
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;

/**
 * Turns what Crawlee hands to setRecord into bytes, as its MemoryStorage does.
 * @throws Error when the value has no form in the content type
 */
export async function encodeValue(value: unknown, contentType: string | undefined): Promise<StoredValue> {
  const type = contentType ?? defaultContentType(value);
  if (isStream(value)) return { bytes: await collect(value), contentType: type };
  if (isBytes(value)) return { bytes: bytesOf(value), contentType: type };
  if (typeof value === 'string') return { bytes: Buffer.from(value), contentType: type };
  return { bytes: Buffer.from(jsonOf(value)), contentType: type };
}

/** The reverse, as getRecord gives it: JSON parsed, text as a string, anything else as a Buffer. */
export function decodeValue(bytes: Uint8Array, contentType: string): unknown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const charset = CHARSET.exec(contentType)?.[1] ?? 'utf-8';
  if (!TEXT_TYPE.test(contentType) || !Buffer.isEncoding(charset)) return buffer;
  const text = buffer.toString(charset);
  return JSON_TYPE.test(contentType) ? JSON.parse(text) : text;
}

function defaultContentType(value: unknown): string {
  if (isStream(value) || isBytes(value)) return 'application/octet-stream';
  return typeof value === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
}

function jsonOf(value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value, null, 2);
  } catch (error) {
    throw new Error(
      `The record value cannot be stringified to JSON. Please provide other content type.\nCause: ${(error as Error).message}`,
      { cause: error },
    );
  }
  if (json === undefined) throw new TypeError('The record value is neither text, bytes, a stream nor JSON');
  return json;
}

function isStream(value: unknown): value is Readable {
  return value instanceof Readable || (typeof value === 'object' && value !== null && 'on' in value && 'pipe' in value);
}

async function collect(stream: Readable): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

function isBytes(value: unknown): value is ArrayBuffer | ArrayBufferView {
  return value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

function bytesOf(value: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
