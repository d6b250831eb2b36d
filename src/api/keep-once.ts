import { hash } from 'node:crypto';
import type { ValueStore } from '../storage/store.ts';
import { type KeyReader, listingOf, type PageFacts, packKeys, pageFactsPrefixes, unpackKeys } from './page-facts.ts';
import { PrimaryKeys } from './primary-keys.ts';

/** A page's records without those that came before, and the keys of both. */
export type KeptRecords = {
  records: unknown[];
  /** The keys kept and those that came before, packed as page facts hold them. */
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
        for (const known of unpackKeys(facts.keys)) this.#kept.claim(known, owner);
      }
    }
  }

  /** @returns the records of a page that are new; one without a key always is */
  sift(records: readonly unknown[], page: PagePlace): KeptRecords {
    const owner = ownerOf(page);
    const kept: unknown[] = [];
    const keys = new Set<number>();
    const repeated: number[] = [];
    for (const record of records) {
      const key = this.#readKey(record);
      if (key !== null && (keys.has(key) || !this.#kept.claim(key, owner))) {
        repeated.push(key);
        continue;
      }
      kept.push(record);
      if (key !== null) keys.add(key);
    }
    return { records: kept, keys: packKeys([...keys]), repeated: packKeys(repeated) };
  }
}

export type PagePlace = { resource: string; listing: string; page: number };

function ownerOf({ resource, listing, page }: PagePlace): number {
  return Buffer.from(hash('sha1', `${resource}|${listing}|${page}`, 'hex').slice(0, 8), 'hex').readUInt32BE();
}
