import type { RunStore } from '../store.ts';
import type { SqliteRunOptions } from './open.ts';

/** Parts of a run store that are called across the thread. */
export type Part = 'queue' | 'datasets' | 'values';

/** What the thread is started with: all that can be copied of the options. */
export type ThreadOptions = Omit<SqliteRunOptions, 'ports'>;

/** One call; its arguments and result are plain data. */
export type Call = { id: number; part: Part; method: string; args: unknown[] };

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What a caller must be able to tell from an error that crossed the thread. */
export type CarriedError = { kind: 'environment' | 'type' | 'other'; message: string; stack: string | undefined };

export type Request = Call | 'close';

export type Reply =
  | { kind: 'opened' }
  | { kind: 'failed'; error: CarriedError }
  | { kind: 'result'; id: number; result: unknown }
  | { kind: 'error'; id: number; error: CarriedError }
  | { kind: 'log'; level: LogLevel; message: string; facts: Record<string, unknown> | undefined };

type Method = (...args: unknown[]) => Promise<unknown>;

/** @returns the method a call names, bound to its part */
export function methodOf(store: RunStore, { part, method }: Call): Method {
  const owner = store[part] as unknown as Record<string, Method>;
  return owner[method]!.bind(owner);
}
