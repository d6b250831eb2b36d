import { hash } from 'node:crypto';
import type { ValueStore } from '../storage/store.ts';
import { type KeyReader, keyHash, keyNumbers, listingOf, type PageFacts, pageFactsPrefixes } from './page-facts.ts';
import { PrimaryKeys } from './primary-keys.ts';

/** A page's records without those that came before, and the keys of both. */
export type KeptRecords = {
  records: unknown[];
  /** Hashes of the keys kept and of those that came before, as page facts hold them. */
  keys: string;
  repeated: string;
};

/**
 * Keeps each record of a dataset once: the first page that has it. What has been committed is known again after a
 * restart from the facts of the pages, which are written in the transaction of their records.
 */
export class KeepOnce {
  readonly #kept = new PrimaryKeys();
  readonly #readKey: KeyReader;

  constructor(readKey: KeyReader) {
    this.#readKey = readKey;
  }

  /** Learns what the pages of a resource have kept. */
  async learn(resource: string, values: Pick<ValueStore, 'entries'>): Promise<void> {
    for (const prefix of pageFactsPrefixes(resource)) {
      for (const [key, facts] of await values.entries<PageFacts>(prefix)) {
        const owner = ownerOf({ resource, listing: listingOf(key), page: facts.page });
        for (const number of keyNumbers(facts.keys)) this.#kept.claim(number, owner);
      }
    }
  }

  /** @returns the records of a page that are new; one without a key always is */
  sift(records: readonly unknown[], page: PagePlace): KeptRecords {
    const owner = ownerOf(page);
    const kept: KeptRecords = { records: [], keys: '', repeated: '' };
    const here = new Set<string>();
    for (const record of records) {
      const key = this.#readKey(record);
      const text = key === null ? null : keyHash(key);
      const isNew = text === null || (!here.has(text) && this.#kept.claim(keyNumbers(text)[0]!, owner));
      if (isNew) kept.records.push(record);
      if (text === null) continue;
      here.add(text);
      if (isNew) kept.keys += text;
      else kept.repeated += text;
    }
    return kept;
  }
}

export type PagePlace = { resource: string; listing: string; page: number };

function ownerOf({ resource, listing, page }: PagePlace): number {
  return Buffer.from(hash('sha1', `${resource}|${listing}|${page}`, 'hex').slice(0, 8), 'hex').readUInt32BE();
}
