import { z } from 'zod';
import { isRawJson, type RawJson } from './exact-json.ts';

/** A number as a response has it: all its digits. */
export type ExactNumber = number | bigint | RawJson;

/**
 * A schema for numbers that must keep all their digits: takes a number, a BigInt (an integer beyond 2^53) or a
 * `JSON.rawJSON` object (another number that a double cannot hold), and changes none of them.
 */
export function exactNumber(): z.ZodType<ExactNumber> {
  return z.union([z.number(), z.bigint(), z.custom<RawJson>(isRawJson, 'Invalid input: expected a number')]);
}
