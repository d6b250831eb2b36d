import type { PracticeStats } from './types.ts';

/** Counts what the practice API served: the truth a crawl's own figures are compared with. */
export class ServedStats {
  readonly #paths = new Map<string, Map<number, number>>();
  readonly #details = new Map<number, number>();
  readonly #items: number;
  #served = 0;
  #inFlight = 0;
  #maxInFlight = 0;

  constructor(items: number) {
    this.#items = items;
  }

  begin(): void {
    this.#inFlight += 1;
    this.#maxInFlight = Math.max(this.#maxInFlight, this.#inFlight);
  }

  end(): void {
    this.#inFlight -= 1;
  }

  /** @param path the path's kind, "/products/:id" say */
  count(path: string, status: number): void {
    this.#served += 1;
    const statuses = this.#paths.get(path) ?? new Map<number, number>();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    this.#paths.set(path, statuses);
  }

  countDetail(id: number): void {
    this.#details.set(id, (this.#details.get(id) ?? 0) + 1);
  }

  snapshot(): PracticeStats {
    const statuses: Record<string, number> = {};
    for (const counts of this.#paths.values())
      for (const [status, count] of counts) statuses[status] = (statuses[status] ?? 0) + count;
    return {
      served: this.#served,
      statuses,
      paths: Object.fromEntries([...this.#paths].map(([path, counts]) => [path, Object.fromEntries(counts)])),
      details: Object.fromEntries(this.#details),
      items: this.#items,
      inFlight: this.#inFlight,
      maxInFlight: this.#maxInFlight,
    };
  }
}
