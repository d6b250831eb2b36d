import { z } from 'zod';
import { messageOf } from '../../core/errors.ts';
import { DAY_MS } from '../../core/units.ts';
import { readablePart } from './parse-robots.ts';

/** What is kept of a fetched robots.txt across restarts: the text itself, as the product token may change. */
export type RobotsCopy = {
  /** Epoch ms. */
  fetchedAtMs: number;
  /** Empty where there is no robots.txt. */
  text: string;
};

/** Where copies are kept between runs: a run's value store fits. */
export type RobotsStore = {
  get<T>(key: string): Promise<T | null>;
  set(key: string, value: unknown): Promise<void>;
};

const copySchema = z.object({ fetchedAtMs: z.number(), text: z.string() });
// RFC 9309 2.3.1.4 has 30 days as the time after which an unreachable file need not be assumed to hold.
const LONGEST_USE_MS = 30 * DAY_MS;

/**
 * The copies of a crawl. They spare fetches after a restart: when the store fails, the crawl goes on without them, and
 * says so.
 */
export class RobotsCopies {
  readonly #store: RobotsStore | undefined;
  readonly #onTrouble: (origin: string, reason: string) => void;

  constructor(store: RobotsStore | undefined, onTrouble: (origin: string, reason: string) => void) {
    this.#store = store;
    this.#onTrouble = onTrouble;
  }

  /** @returns the copy of whatever age up to 30 days; null when there is none that makes sense. Never rejects. */
  async load(origin: string, wallMs: number): Promise<RobotsCopy | null> {
    try {
      const { success, data } = copySchema.safeParse(await this.#store?.get(keyOf(origin)));
      const ageMs = success ? wallMs - data.fetchedAtMs : -1;
      return success && ageMs >= 0 && ageMs <= LONGEST_USE_MS ? data : null;
    } catch (error) {
      this.#onTrouble(origin, `the copy of its robots.txt cannot be read: ${messageOf(error)}`);
      return null;
    }
  }

  /** Never rejects. */
  async save(origin: string, { fetchedAtMs, text }: RobotsCopy): Promise<void> {
    try {
      await this.#store?.set(keyOf(origin), { fetchedAtMs, text: readablePart(text) });
    } catch (error) {
      this.#onTrouble(origin, `no copy of its robots.txt can be kept: ${messageOf(error)}`);
    }
  }
}

function keyOf(origin: string): string {
  return `robots:${origin}`;
}
