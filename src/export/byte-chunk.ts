import { RUN_SLACK, viewOf } from './plain-run.ts';

// Pieces this large keep the cost of a write small, and memory too.
const CHUNK_BYTES = 256 * 1024;

/**
 * Collects output as UTF-8 until there is enough for a write, in two buffers that take turns: a new one for every write
 * would pile up until the garbage collector takes notice.
 */
export class ByteChunk {
  /** Bytes so far are those before `at`. */
  bytes: Buffer;
  /** The same bytes, for whoever writes several at a time. */
  view: DataView;
  at = 0;
  #other: Buffer = Buffer.allocUnsafe(0);

  /** @param byteCount room there is at first */
  constructor(byteCount = CHUNK_BYTES + CHUNK_BYTES / 4) {
    this.bytes = Buffer.allocUnsafe(byteCount);
    this.view = viewOf(this.bytes);
  }

  get isFull(): boolean {
    return this.at >= CHUNK_BYTES;
  }

  /** What is there; it holds until more is written. */
  get written(): Buffer {
    return this.bytes.subarray(0, this.at);
  }

  /** Makes room for so many more bytes, and for what a run touches behind them. */
  reserve(count: number): void {
    const least = this.at + count + RUN_SLACK;
    if (least <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(least, 2 * this.bytes.length));
    this.bytes.copy(larger, 0, 0, this.at);
    this.#use(larger);
  }

  /** Half characters become U+FFFD. */
  writeText(text: string): void {
    this.reserve(text.length * 3);
    this.at += this.bytes.write(text, this.at);
  }

  /** @returns what is there, and begins anew: it holds until the next has been taken and more is written */
  take(): Buffer {
    const { bytes, written } = this;
    this.#use(this.#other.length < bytes.length ? Buffer.allocUnsafe(bytes.length) : this.#other);
    this.#other = bytes;
    this.at = 0;
    return written;
  }

  #use(bytes: Buffer): void {
    this.bytes = bytes;
    this.view = viewOf(bytes);
  }
}
