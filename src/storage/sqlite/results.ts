import type { HandledResult } from '../store.ts';

/** How results are stored: small integers. */
export const RESULT_CODES = { succeeded: 1, failed: 2, skipped: 3 } as const satisfies Record<HandledResult, number>;

/** The results in the order of their codes. */
export const RESULTS = ['succeeded', 'failed', 'skipped'] as const satisfies readonly HandledResult[];

/** @returns the result of a stored code */
export function resultOf(code: number): HandledResult {
  const result = RESULTS[code - 1];
  if (!result) throw new Error(`Unknown result code ${code}`);
  return result;
}
