import type { PlatformRecords } from '../../src/actor/platform.ts';

/** A key-value store in memory, with what was done to it in order. */
export class MemoryRecords implements PlatformRecords {
  readonly stored = new Map<string, Buffer>();
  readonly log: string[] = [];

  async get(key: string): Promise<Buffer | null> {
    return this.stored.get(key) ?? null;
  }

  async set(key: string, value: string | Buffer): Promise<void> {
    this.log.push(`set ${key}`);
    this.stored.set(key, Buffer.from(value));
  }

  async delete(key: string): Promise<void> {
    this.log.push(`delete ${key}`);
    this.stored.delete(key);
  }
}
