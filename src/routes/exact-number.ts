import { z } from 'zod';

// Not in TypeScript's library yet.
const { isRawJSON } = JSON as JSON & { isRawJSON: (value: unknown) => boolean };

/**
 * A schema for numbers that must keep all their digits. It takes a number, a BigInt (how an integer beyond 2^53
 * arrives) and a `JSON.rawJSON` object (how a number arrives that a double cannot hold), and changes none of them.
 */
export function exactNumber(): z.ZodType<number | bigint | object> {
  return z.union([z.number(), z.bigint(), z.custom<object>(isRawJSON, 'Invalid input: expected a number')]);
}
