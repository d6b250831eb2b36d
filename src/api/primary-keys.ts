/**
 * Which page each primary key of a dataset was kept from, in 12 bytes a slot: about 170 MB for 10 million records.
 * A page that is handled again keeps what it kept before.
 */
export class PrimaryKeys {
  // Open addressing: a slot is free while its key is -1. Keys are 48-bit hashes, so a collision of two keys is as
  // unlikely as in page facts; owners are 32-bit hashes, compared only for the same key.
  #keys = new Float64Array(FIRST_SLOTS).fill(FREE);
  #owners = new Uint32Array(FIRST_SLOTS);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** @returns whether the record is to be kept: nobody has the key, or this page has */
  claim(key: number, owner: number): boolean {
    const slot = this.#slotOf(key);
    if (this.#keys[slot] === key) return this.#owners[slot] === owner;
    this.#keys[slot] = key;
    this.#owners[slot] = owner;
    this.#count++;
    if (this.#count > this.#keys.length * FULLEST) this.#grow();
    return true;
  }

  #slotOf(key: number): number {
    const mask = this.#keys.length - 1;
    // The low bits of a hash are as good as any.
    let slot = key % this.#keys.length;
    while (this.#keys[slot] !== FREE && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const [keys, owners] = [this.#keys, this.#owners];
    this.#keys = new Float64Array(keys.length * 2).fill(FREE);
    this.#owners = new Uint32Array(keys.length * 2);
    for (const [at, key] of keys.entries()) {
      if (key === FREE) continue;
      const slot = this.#slotOf(key);
      this.#keys[slot] = key;
      this.#owners[slot] = owners[at]!;
    }
  }
}

const FREE = -1;
const FIRST_SLOTS = 1024;
// Linear probing slows down beyond.
const FULLEST = 0.7;
