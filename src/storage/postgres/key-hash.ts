import { hash } from 'node:crypto';

/** @returns the first 128 bits of the SHA-256 of a unique key, as PostgreSQL's uuid takes them */
export function keyHashOf(uniqueKey: string): string {
  return hash('sha256', uniqueKey, 'hex').slice(0, 32);
}
