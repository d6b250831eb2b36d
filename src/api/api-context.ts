import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { z } from 'zod';
import type { Problem } from '../config/describe-issues.ts';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { ValueStore } from '../storage/store.ts';
import type { AuthFetch } from './auth/auth.ts';
import type { ImportModule } from './load-module.ts';
import type { SecretSource } from './references.ts';

/** What an api is compiled with: everything it reads and calls is handed in. */
export type ApiContext = ApiFiles & {
  /** Sends the requests of token endpoints. */
  fetch: AuthFetch;
  clock: Clock;
  log: Log;
  /** The run's values; null = nothing is remembered (validate, --dry-run). */
  values: Pick<ValueStore, 'get' | 'set' | 'entries'> | null;
  /** --sample: pages of each resource; null = all. */
  samplePages: number | null;
};

/** What an api refers to. */
export type ApiFiles = {
  secrets: SecretSource;
  /** @returns a file's text; undefined when it cannot be read. Relative paths start from the input document. */
  readText: (path: string) => string | undefined;
  importModule: ImportModule;
  /** Schemas by resource, for those who describe an api in TypeScript; they take the place of `schema`. */
  schemas?: Readonly<Record<string, z.ZodType>>;
};

/** An api that cannot be compiled: every problem, with its path within `api`. */
export class ApiProblems extends Error {
  override readonly name = 'ApiProblems';
  readonly problems: readonly Problem[];
  constructor(problems: readonly Problem[]) {
    super(problems.map(({ text }) => text).join('\n'));
    this.problems = problems;
  }
}

/**
 * The files and variables of this machine.
 * @param baseDir absolute folder that relative paths start from
 */
export function systemFiles(
  baseDir: string,
  env: Readonly<Record<string, string | undefined>>,
): Pick<ApiFiles, 'secrets' | 'readText'> & { pathOf: (path: string) => string } {
  const pathOf = (path: string): string => (isAbsolute(path) ? path : resolve(baseDir, path));
  const readText = (path: string): string | undefined => {
    try {
      return readFileSync(pathOf(path), 'utf8');
    } catch {
      return undefined; // Told with its place by whoever asked.
    }
  };
  const file = (path: string): string | undefined => readText(path)?.replace(/\r?\n$/, '');
  return { secrets: { env: (name) => env[name], file }, readText, pathOf };
}
