import type { StoredRecord } from '../storage/store.ts';

/** Rows that go to a platform dataset in one call: a JSON array, and the last row that is in it. */
export type Batch = { body: string; count: number; lastSeq: number };

/** A row that no call can carry. */
export type Oversized = { seq: number; json: string; bytes: number };

// A call takes 9 MB (MAX_PAYLOAD_SIZE_BYTES of @apify/consts): half of it, so that escapes and headers do not matter.
const MOST_BYTES = 4_500_000;
const LARGEST_ITEM_BYTES = 8_500_000;

/**
 * Puts rows together into as few calls as their size allows, in order. A dataset of the platform takes objects only:
 * anything else is wrapped as `{value}`. Digits stay as they are written.
 */
export function batchesOf(
  rows: readonly StoredRecord[],
  { mostBytes = MOST_BYTES, largestItemBytes = LARGEST_ITEM_BYTES } = {},
): { batches: Batch[]; oversized: Oversized[] } {
  const batches: Batch[] = [];
  const oversized: Oversized[] = [];
  let items: string[] = [];
  let bytes = 0;
  let lastSeq = 0;
  const close = (): void => {
    if (items.length > 0) batches.push({ body: `[${items.join(',')}]`, count: items.length, lastSeq });
    items = [];
    bytes = 0;
  };
  for (const { seq, json } of rows) {
    const item = json.startsWith('{') ? json : `{"value":${json}}`;
    const itemBytes = Buffer.byteLength(item) + 1;
    if (itemBytes > largestItemBytes) {
      oversized.push({ seq, json, bytes: itemBytes });
      continue;
    }
    if (bytes + itemBytes > mostBytes) close();
    items.push(item);
    bytes += itemBytes;
    lastSeq = seq;
  }
  close();
  return { batches, oversized };
}
