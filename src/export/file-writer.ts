import type { FileHandle } from 'node:fs/promises';

// Left to the end, the sync of a large file takes as long as a good part of its writing.
const SYNC_BYTES = 32 * 1024 * 1024;

/** Writes one chunk to a file while its caller makes the next, and has the disk take them meanwhile. */
export class FileWriter {
  readonly #file: FileHandle;
  #unsyncedBytes = 0;
  #isSyncing = false;
  // Their errors are for whoever awaits them: that is the next call.
  #written = Promise.resolve();
  #synced = Promise.resolve();

  /** @param file borrowed: it is not closed */
  constructor(file: FileHandle) {
    this.#file = file;
  }

  /**
   * Begins to write a chunk.
   * @param chunk has to hold until the next call has come back
   * @throws what became of the chunk before
   */
  async write(chunk: Uint8Array): Promise<void> {
    await this.#written;
    await this.#syncNowAndThen();
    this.#written = kept(this.#writeAll(chunk));
    this.#unsyncedBytes += chunk.byteLength;
  }

  /** @returns when everything is on the disk */
  async end(): Promise<void> {
    await this.#written;
    await this.#synced;
    await this.#file.sync();
  }

  async #writeAll(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.byteLength; ) at += (await this.#file.write(chunk, at)).bytesWritten;
  }

  async #syncNowAndThen(): Promise<void> {
    if (this.#isSyncing || this.#unsyncedBytes < SYNC_BYTES) return;
    // The system tells a failed sync once.
    await this.#synced;
    this.#unsyncedBytes = 0;
    this.#isSyncing = true;
    this.#synced = kept(
      this.#file.datasync().finally(() => {
        this.#isSyncing = false;
      }),
    );
  }
}

// A rejection is not unhandled because it is awaited later.
function kept(promise: Promise<void>): Promise<void> {
  promise.catch(() => undefined);
  return promise;
}
