import { randomBytes } from 'node:crypto';

/** A source of numbers in [0, 1). Handed down, so that tests can seed it. */
export type Random = () => number;

/** The real source: for jitter and sampling, not for secrets. */
export const systemRandom: Random = Math.random;

/** @returns `byteCount` random bytes as lower-case hex: for tokens and worker ids. */
export function randomHex(byteCount: number): string {
  return randomBytes(byteCount).toString('hex');
}
