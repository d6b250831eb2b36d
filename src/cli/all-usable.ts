import { UsageError } from '../core/errors.ts';

/**
 * Waits for all, so that the problems of each are listed together.
 * @throws UsageError with the problems of every one that threw a UsageError; otherwise the first other error
 */
export async function allUsable<const Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [Index in keyof Parts]: Awaited<Parts[Index]> }> {
  const results = await Promise.allSettled(parts);
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
  for (const reason of reasons) if (!(reason instanceof UsageError)) throw reason;
  const problems = reasons.flatMap((reason) => (reason as UsageError).problems);
  if (problems.length > 0) throw new UsageError(problems);
  return Promise.all(parts);
}

/** Within a promise, so that what `read` throws is listed beside the problems of the others. */
export async function later<T>(read: () => T): Promise<T> {
  return read();
}
