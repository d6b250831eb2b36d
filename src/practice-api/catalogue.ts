import { DAY_MS, MINUTE_MS, SECOND_MS } from '../core/units.ts';
import { hashOf, seededRandom } from './seeded.ts';
import type { Product, ProductSummary, Review } from './types.ts';
import * as words from './words.ts';

const NEWEST_UPDATE_MS = Date.UTC(2026, 0, 31);
const OLDEST_UPDATE_DAYS = 700;
// 2^53 + 1 and up: the first integer that a double cannot hold.
const FIRST_LEDGER_ID = 9_007_199_254_740_993n;
const MOST_REVIEWS = 16;

/** A change made while the server runs: it shows in `version`, `updatedAt` and the price. */
type Change = { version: number; updatedAtMs: number };

/** The practice API's products and reviews: computed from the seed whenever they are asked for, never stored. */
export class Catalogue {
  readonly items: number;
  readonly #seed: number;
  readonly #changes = new Map<number, Change>();
  #idsByUpdate: Uint32Array | null = null;

  constructor({ items, seed }: { items: number; seed: number }) {
    this.items = items;
    this.#seed = seed;
  }

  has(id: number): boolean {
    return Number.isInteger(id) && id >= 1 && id <= this.items;
  }

  /** @param id 1 to `items` */
  summary(id: number): ProductSummary {
    return this.#summary(id, this.#productRandom(id));
  }

  /** @returns the products with first <= id < first + count, as far as there are */
  summaries(first: number, count: number): ProductSummary[] {
    const end = Math.min(first + count, this.items + 1);
    return Array.from({ length: Math.max(0, end - first) }, (_, index) => this.summary(first + index));
  }

  /** @param id 1 to `items` */
  product(id: number): Product {
    const random = this.#productRandom(id);
    return {
      ...this.#summary(id, random),
      ledgerId: FIRST_LEDGER_ID + BigInt(id) * 2n,
      description: description(random),
      maker: { ...pick(random, words.MAKERS) },
      dimensions: random() < 0.1 ? null : dimensions(random),
      tags: words.TAGS.filter(() => random() < 0.3),
      stock: Object.fromEntries(words.WAREHOUSES.map((place) => [place, between(random, 0, 80)])),
      rating: this.#rating(id),
      reviewCount: this.reviewCount(id),
      releasedOn: new Date(NEWEST_UPDATE_MS - between(random, 720, 3600) * DAY_MS).toISOString().slice(0, 10),
      discontinued: random() < 0.05,
      version: this.#version(id),
    };
  }

  /** Epoch ms of a product's last change, to the second. */
  updatedAtMs(id: number): number {
    const change = this.#changes.get(id);
    if (change) return change.updatedAtMs;
    return NEWEST_UPDATE_MS - (hashOf(this.#seed, 'updated', id) % (OLDEST_UPDATE_DAYS * 86_400)) * SECOND_MS;
  }

  /** Product ids, the longest unchanged first. */
  idsByUpdate(): Uint32Array {
    this.#idsByUpdate ??= Uint32Array.from({ length: this.items }, (_, index) => index + 1).sort(
      (a, b) => this.updatedAtMs(a) - this.updatedAtMs(b) || a - b,
    );
    return this.#idsByUpdate;
  }

  /** Changes a product: its version, price and `updatedAt`, as a shop would. */
  touch(id: number, wallMs: number): void {
    const updatedAtMs = Math.floor(wallMs / SECOND_MS) * SECOND_MS;
    this.#changes.set(id, { version: this.#version(id) + 1, updatedAtMs });
    this.#idsByUpdate = null;
  }

  reviewCount(id: number): number {
    const hash = hashOf(this.#seed, 'reviews', id);
    return hash % 4 === 0 ? 0 : 1 + ((hash >>> 2) % MOST_REVIEWS);
  }

  /** @param index 0 to reviewCount - 1 */
  review(productId: number, index: number): Review {
    const random = seededRandom(this.#seed, 'review', productId, index);
    return {
      id: productId * 100 + index,
      productId,
      author: pick(random, words.AUTHORS),
      stars: this.#stars(productId, index),
      title: random() < 0.2 ? null : pick(random, words.REVIEW_TITLES),
      text: pick(random, words.REVIEW_TEXTS),
      verifiedPurchase: random() < 0.8,
      writtenAt: new Date(NEWEST_UPDATE_MS - between(random, 1, OLDEST_UPDATE_DAYS * 1440) * MINUTE_MS).toISOString(),
    };
  }

  // Drawn first from a product's stream, so that a summary costs no more than it shows.
  #summary(id: number, random: Random): ProductSummary {
    return {
      id,
      ...naming(random, id),
      price: price(random, this.#version(id)),
      updatedAt: new Date(this.updatedAtMs(id)).toISOString(),
    };
  }

  #productRandom(id: number): Random {
    return seededRandom(this.#seed, 'product', id);
  }

  #version(id: number): number {
    return this.#changes.get(id)?.version ?? 1;
  }

  #stars(productId: number, index: number): number {
    return [5, 5, 4, 4, 3, 5, 2, 1][hashOf(this.#seed, 'stars', productId, index) % 8] as number;
  }

  #rating(id: number): number | null {
    const count = this.reviewCount(id);
    if (count === 0) return null;
    let sum = 0;
    for (let index = 0; index < count; index++) sum += this.#stars(id, index);
    return Math.round((sum / count) * 10) / 10;
  }
}

type Random = () => number;

function naming(random: Random, id: number): Pick<Product, 'sku' | 'name' | 'category'> {
  const category = pick(random, words.CATEGORIES);
  const thing = pick(random, words.THINGS[category]);
  const colour = random() < 0.4 ? `, ${pick(random, words.COLOURS)}` : '';
  return {
    sku: `${category.slice(0, 2).toUpperCase()}-${String(id).padStart(6, '0')}`,
    name: `${pick(random, words.MATERIALS)} ${thing}${colour}`,
    category,
  };
}

function price(random: Random, version: number): Product['price'] {
  const cents = between(random, 3, 180) * 100 - pick(random, [5, 10, 50, 100]);
  return {
    amount: (cents + (version - 1) * 100) / 100,
    currency: pick(random, words.CURRENCIES),
    discountPercent: random() < 0.75 ? null : between(random, 1, 8) * 5,
  };
}

function description(random: Random): string {
  const sentences = words.SENTENCES.filter(() => random() < 0.4);
  return (sentences.length > 0 ? sentences : [words.SENTENCES[0]]).join(random() < 0.3 ? '\n' : ' ');
}

function dimensions(random: Random): NonNullable<Product['dimensions']> {
  return {
    widthMm: between(random, 20, 900),
    heightMm: between(random, 10, 600),
    depthMm: between(random, 5, 500),
    weightGrams: between(random, 20, 9000),
  };
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T;
}

function between(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}
