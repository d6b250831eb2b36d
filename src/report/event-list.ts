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
 * The crawl's events, at most 400 of them: when there are twice as many, every second one of the frequent kinds goes
 * (then the oldest), so that the whole run stays covered. All are counted by kind.
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
    let frequent = 0;
    const kept = this.#events.filter((event) => !FREQUENT.has(event.kind) || frequent++ % 2 === 0);
    this.#events = kept.slice(-MOST_EVENTS);
  }
}
