import type { CompletenessSummary } from '../core/summary.ts';
import type { ValueStore } from '../storage/store.ts';
import { type CursorValue, laterCursor } from './incremental.ts';
import { listingOf, type PageFacts, pageFactsPrefixes, unpackKeys } from './page-facts.ts';

/** What the pages of a resource add up to. */
export type ResourceTotals = CompletenessSummary & {
  /** Pages handled. */
  pages: number;
  /** Records left out by the increment's window, dropped by discardRow, and kept though they do not fit. */
  outside: number;
  discarded: number;
  drifted: number;
  /** Largest cursor value; null = none. */
  cursor: CursorValue | null;
};

/**
 * Reckons a resource's completeness from the facts of its pages.
 *
 * declared: sum of the totals its listings declare (each as of its last page); null when none does.
 * fetched: records received. duplicates: those whose primary key came before. gaps: records that a listing declares and
 * that did not come. suspectedShifts: page borders at which the list has moved meanwhile: the total changed, or a record
 * of one page stands on the next one too.
 *
 * Memory: the facts of one shard of listings (1/64), and 8 bytes a record with a primary key.
 */
export async function reckonCompleteness(
  resource: string,
  values: Pick<ValueStore, 'entries'>,
): Promise<ResourceTotals> {
  const totals = noTotals(resource);
  const keys = new KeyList();
  for (const prefix of pageFactsPrefixes(resource)) {
    const entries = await values.entries<PageFacts>(prefix);
    for (const pages of listings(entries)) addListing(totals, pages, keys);
  }
  totals.duplicates = keys.countDuplicates();
  return totals;
}

function noTotals(resource: string): ResourceTotals {
  return {
    resource,
    declared: null,
    fetched: 0,
    duplicates: 0,
    gaps: 0,
    suspectedShifts: 0,
    pages: 0,
    outside: 0,
    discarded: 0,
    drifted: 0,
    cursor: null,
  };
}

/** Pages by listing, in page order. Of a listing that was started again only the last start counts. */
function listings(entries: readonly [string, PageFacts][]): PageFacts[][] {
  const byName = new Map<string, { start: number; pages: PageFacts[] }>();
  for (const [key, facts] of entries) {
    const { name, start } = splitListing(listingOf(key));
    const known = byName.get(name);
    if (known === undefined || known.start < start) byName.set(name, { start, pages: [facts] });
    else if (known.start === start) known.pages.push(facts);
  }
  return [...byName.values()].map(({ pages }) => pages.sort((a, b) => a.page - b.page));
}

/** `mark~2` is the second new start of `mark`. */
function splitListing(listing: string): { name: string; start: number } {
  const [name = '', start] = listing.split('~');
  return { name, start: start === undefined ? 0 : Number(start) };
}

function addListing(totals: ResourceTotals, pages: readonly PageFacts[], keys: KeyList): void {
  const own = new KeyList();
  let fetched = 0;
  for (const [at, facts] of pages.entries()) {
    const before = pages[at - 1];
    fetched += facts.count;
    totals.pages++;
    totals.outside += facts.outside;
    totals.discarded += facts.discarded;
    totals.drifted += facts.drifted;
    totals.cursor = laterCursor(totals.cursor, facts.cursor);
    if (before !== undefined && hasShifted(before, facts)) totals.suspectedShifts++;
    const numbers = allKeys(facts);
    own.add(numbers);
    keys.add(numbers);
  }
  totals.fetched += fetched;
  const declared = pages.findLast((facts) => facts.declared !== null)?.declared ?? null;
  if (declared === null) return;
  totals.declared = (totals.declared ?? 0) + declared;
  totals.gaps += Math.max(0, declared - (fetched - own.countDuplicates()));
}

function hasShifted(before: PageFacts, after: PageFacts): boolean {
  if (before.offset === null || after.offset === null || after.page !== before.page + 1) return false;
  const hasNewTotal = before.declared !== null && after.declared !== null && before.declared !== after.declared;
  return hasNewTotal || sharesKey(before, after);
}

function sharesKey(before: PageFacts, after: PageFacts): boolean {
  const known = new Set(allKeys(before));
  return allKeys(after).some((key) => known.has(key));
}

function allKeys({ keys, repeated }: PageFacts): number[] {
  return unpackKeys(keys + repeated);
}

/** Key hashes as numbers, 8 bytes each. */
class KeyList {
  #numbers = new Float64Array(64);
  #count = 0;

  add(keys: readonly number[]): void {
    for (const key of keys) {
      if (this.#count === this.#numbers.length) this.#grow();
      this.#numbers[this.#count++] = key;
    }
  }

  countDuplicates(): number {
    const sorted = this.#numbers.subarray(0, this.#count).sort();
    let duplicates = 0;
    for (let at = 1; at < sorted.length; at++) if (sorted[at] === sorted[at - 1]) duplicates++;
    return duplicates;
  }

  #grow(): void {
    const larger = new Float64Array(this.#numbers.length * 2);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
