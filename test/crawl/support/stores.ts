import type { RunStore, ValueStore } from '../../../src/storage/store.ts';

/** A run's values in memory, as JSON, like any store's. */
export class MapValues implements ValueStore {
  readonly #values = new Map<string, string>();

  async get<T>(key: string): Promise<T | null> {
    const json = this.#values.get(key);
    return json === undefined ? null : (JSON.parse(json) as T);
  }

  async set(key: string, value: unknown): Promise<void> {
    this.#values.set(key, JSON.stringify(value));
  }

  async delete(key: string): Promise<void> {
    this.#values.delete(key);
  }

  async entries<T>(prefix: string): Promise<[string, T][]> {
    const keys = [...this.#values.keys()].filter((key) => key.startsWith(prefix)).sort();
    return keys.map((key) => [key, JSON.parse(this.#values.get(key)!) as T]);
  }
}

/** All rows of a dataset, in order. */
export async function datasetOf(store: RunStore, name: string): Promise<Record<string, unknown>[]> {
  const rows = await store.datasets.page(name, { afterSeq: 0, limit: 1_000_000 });
  return rows.map(({ json }) => JSON.parse(json) as Record<string, unknown>);
}
