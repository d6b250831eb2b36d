import { pipeline, Writable } from 'node:stream';
import { messageOf } from '../core/errors.ts';
import { KIB, MIB } from '../core/units.ts';
import { errnoOf } from './connect-error.ts';
import { type Coding, createDecoder, decodeWhole } from './content-coding.ts';
import { HttpError } from './http-error.ts';
import { tooLarge } from './too-large.ts';

// Up to here a body is collected and undone at once: many times faster than a stream for the usual few KiB.
const SMALL_BYTES = 32 * KIB;
// And as long as it does not unfold to more than what takes about a millisecond.
const SMALL_RESULT_BYTES = MIB;

export type BodyDecoderOptions = {
  host: string;
  /** To undo, first to last; at least one. */
  codings: readonly Coding[];
  /** Bound of the result. */
  maxBytes: number;
  /** It takes more again, after `write` returned false. */
  onDrain: () => void;
  /** BAD_ENCODING or TOO_LARGE; nothing comes after it. */
  onError: (error: HttpError) => void;
};

/** Undoes the content codings of one body as it comes: at once when it is small, else by streams of flat memory. */
export class BodyDecoder {
  readonly #options: BodyDecoderOptions;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #stream: DecodingStream | null = null;
  #isOver = false;

  constructor(options: BodyDecoderOptions) {
    this.#options = options;
  }

  /** @returns whether it takes more now; after false, `onDrain` says when */
  write(chunk: Buffer): boolean {
    if (this.#stream) return this.#stream.write(chunk);
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    return this.#bytes <= SMALL_BYTES || this.#startStream().write(Buffer.concat(this.#takeChunks()));
  }

  /** The body is complete: `onBody` gets it decoded, at once or later. */
  end(onBody: (body: Buffer) => void): void {
    if (this.#stream) {
      this.#stream.end(onBody);
      return;
    }
    const raw = Buffer.concat(this.#takeChunks());
    const decoded = this.#decodeSmall(raw);
    if (decoded) {
      onBody(decoded);
      return;
    }
    if (this.#isOver) return;
    const stream = this.#startStream();
    stream.write(raw);
    stream.end(onBody);
  }

  destroy(): void {
    this.#isOver = true;
    this.#stream?.destroy();
  }

  /** @returns null when it has failed, or is better done by a stream */
  #decodeSmall(raw: Buffer): Buffer | null {
    const { codings, maxBytes } = this.#options;
    const limit = Math.min(maxBytes, SMALL_RESULT_BYTES);
    // Some servers announce a coding for a body that is empty: HEAD, 204, 304.
    if (raw.length === 0) return raw;
    try {
      return codings.reduce((body, coding) => decodeWhole(body, coding, limit), raw);
    } catch (error) {
      if (errnoOf(error) === 'ERR_BUFFER_TOO_LARGE' && limit < maxBytes) return null;
      this.#fail(error);
      return null;
    }
  }

  #startStream(): DecodingStream {
    const { codings, maxBytes, onDrain } = this.#options;
    this.#stream = new DecodingStream({ codings, maxBytes, onDrain, onError: (error) => this.#fail(error) });
    return this.#stream;
  }

  #takeChunks(): Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks;
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { host, codings, maxBytes, onError } = this.#options;
    if (errnoOf(error) === 'ERR_BUFFER_TOO_LARGE') {
      onError(tooLarge(host, maxBytes));
      return;
    }
    const message = `${host}: the body is not valid ${codings.join(' and ')} (${messageOf(error)})`;
    onError(new HttpError({ code: 'BAD_ENCODING', message, wasSent: true }, { cause: error }));
  }
}

/** @returns the error of a body in a coding that cannot be undone */
export function unsupportedCoding(host: string, what: string): HttpError {
  return new HttpError({ code: 'BAD_ENCODING', message: `${host}: content-encoding ${what}`, wasSent: true });
}

type StreamOptions = {
  codings: readonly Coding[];
  maxBytes: number;
  onDrain: () => void;
  onError: (error: unknown) => void;
};

/** The decoders in a row, and what comes out of the last one, counted. */
class DecodingStream {
  readonly #first: Writable;
  readonly #results: Buffer[] = [];
  #resultBytes = 0;
  #onBody: (body: Buffer) => void = () => {};

  constructor(options: StreamOptions) {
    const decoders = options.codings.map(createDecoder);
    this.#first = decoders[0]!;
    this.#first.on('drain', options.onDrain);
    pipeline([...decoders, this.#collector(options.maxBytes)], (error) => {
      if (error) options.onError(error);
      else this.#onBody(Buffer.concat(this.#results, this.#resultBytes));
    });
  }

  write(chunk: Buffer): boolean {
    return this.#first.write(chunk);
  }

  end(onBody: (body: Buffer) => void): void {
    this.#onBody = onBody;
    this.#first.end();
  }

  destroy(): void {
    this.#first.destroy();
  }

  #collector(maxBytes: number): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, callback) => {
        this.#resultBytes += chunk.length;
        if (this.#resultBytes > maxBytes) {
          callback(Object.assign(new Error('too large'), { code: 'ERR_BUFFER_TOO_LARGE' }));
          return;
        }
        this.#results.push(chunk);
        callback();
      },
    });
  }
}
