import type { CrawlEvent } from '../core/events.ts';

const MOST_EVENTS = 400;

/** An event with its place on the crawl's own time axis, ms. */
export type TimedEvent = CrawlEvent & { offsetMs: number };

export type EventListState = { events: TimedEvent[]; counts: Record<string, number> };

// What happens once or rarely is never thinned out for what happens all the time.
const FREQUENT: ReadonlySet<CrawlEvent['kind']> = new Set([
  'limit-changed',
  'parked',
  'resumed',
  'session',
  'overload',
]);

/**
 * The crawl's events, a few hundred of them: when there are 800, every second one of the frequent kinds goes, so that
 * the whole run stays covered and rare ones stay. All are counted by kind.
 */
export class EventList {
  #events: TimedEvent[] = [];
  readonly #counts = new Map<string, number>();

  add(event: TimedEvent): void {
    this.#events.push(event);
    this.#counts.set(event.kind, (this.#counts.get(event.kind) ?? 0) + 1);
    if (this.#events.length >= 2 * MOST_EVENTS) this.#thin();
  }

  list(): readonly TimedEvent[] {
    return this.#events;
  }

  counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }

  toState(): EventListState {
    return { events: [...this.#events], counts: this.counts() };
  }

  static fromState(state: EventListState): EventList {
    const list = new EventList();
    list.#events = [...state.events];
    for (const [kind, count] of Object.entries(state.counts)) list.#counts.set(kind, count);
    return list;
  }

  #thin(): void {
    const isFrequent = (event: TimedEvent): boolean => FREQUENT.has(event.kind);
    const rare = this.#events.filter((event) => !isFrequent(event)).slice(-MOST_EVENTS / 2);
    const frequent = this.#events.filter(isFrequent).filter((_, index) => index % 2 === 0);
    this.#events = [...rare, ...frequent.slice(rare.length - MOST_EVENTS)].sort((a, b) => a.offsetMs - b.offsetMs);
  }
}
