// Pieces this large keep the cost of a write small, and memory too.
const CHUNK_BYTES = 256 * 1024;

/**
 * Collects output as UTF-8 until there is enough for a write, in one buffer: a new one for every write would pile up
 * until the garbage collector takes notice.
 */
export class ByteChunk {
  /** Bytes so far are those before `at`. */
  bytes: Buffer = Buffer.allocUnsafe(CHUNK_BYTES + CHUNK_BYTES / 4);
  at = 0;

  get isFull(): boolean {
    return this.at >= CHUNK_BYTES;
  }

  /** Makes room for so many more bytes. */
  reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.at + count, 2 * this.bytes.length));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }

  /** Half characters become U+FFFD. */
  writeText(text: string): void {
    this.reserve(text.length * 3);
    this.at += this.bytes.write(text, this.at);
  }

  /** @returns what is there, and begins anew: its bytes hold until the next ones are written */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.at);
    this.at = 0;
    return taken;
  }
}
