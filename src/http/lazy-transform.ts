import { Transform, type TransformCallback } from 'node:stream';

/** A transform that is chosen by the first bytes that go through it. */
export class LazyTransform extends Transform {
  readonly #choose: (first: Buffer) => Transform;
  #inner: Transform | null = null;

  constructor(choose: (first: Buffer) => Transform) {
    super();
    this.#choose = choose;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    this.#inner ??= this.#open(chunk);
    if (this.#inner.write(chunk)) callback();
    else this.#inner.once('drain', callback);
  }

  override _flush(callback: TransformCallback): void {
    if (!this.#inner) {
      callback();
      return;
    }
    this.#inner.once('end', () => callback());
    this.#inner.end();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#inner?.destroy();
    callback(error);
  }

  #open(first: Buffer): Transform {
    const inner = this.#choose(first);
    inner.on('data', (chunk) => this.push(chunk));
    inner.on('error', (error) => this.destroy(error));
    return inner;
  }
}
