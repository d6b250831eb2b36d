import type { RequestSchema, StorageClient } from '@crawlee/types';
import { afterEach, beforeEach, vi } from 'vitest';

/** Storages of the implementation under test, empty at first. */
export type TestStorages = {
  client: StorageClient;
  /** The same storages as a process that starts later sees them; null when they live in memory only. */
  reopen: (() => Promise<StorageClient>) | null;
  remove(): Promise<void>;
};

export type CreateStorages = () => Promise<TestStorages>;

/** Where Crawlee's own MemoryStorage differs from the Apify API, which we follow. */
export type Quirks = {
  /** It tells the queue has locked requests. */
  tellsLocked: boolean;
  /** Requests are locked in the order of their order numbers; MemoryStorage goes by insertion. */
  locksInOrder: boolean;
  /** An update that takes handledAt away lowers the handled count. */
  countsUnhandled: boolean;
  /** Listing keys may start after a key that is not there. */
  startsAfterMissingKey: boolean;
  /** MemoryStorage moves a folder that is there only once something was written. */
  renames: boolean;
  downloads: boolean;
};

export const APIFY_LIKE: Quirks = {
  tellsLocked: true,
  locksInOrder: true,
  countsUnhandled: true,
  startsAfterMissingKey: true,
  renames: true,
  downloads: true,
};

export const START_MS = Date.UTC(2026, 0, 1);

/** Only the calendar is faked: promises and files go on as ever. */
export function useStorages(create: CreateStorages): () => TestStorages {
  let storages: TestStorages;
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: START_MS });
    storages = await create();
  });
  afterEach(async () => {
    vi.useRealTimers();
    await storages.remove();
  });
  return () => storages;
}

export function advance(byMs: number): void {
  vi.setSystemTime(Date.now() + byMs);
}

export function request(path: number | string, more: Partial<RequestSchema> = {}): RequestSchema {
  const url = `https://example.com/${path}`;
  return { url, uniqueKey: url, method: 'GET', retryCount: 0, ...more };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
