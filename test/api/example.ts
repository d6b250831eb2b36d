import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parse } from 'yaml';
import type { ApiConfig } from '../../src/config/api-schema.ts';
import { inputSchema } from '../../src/config/input-schema.ts';

export const ROOT = join(import.meta.dirname, '../..');

/** An example's api, with the folder its files lie in. */
export type Example = { name: string; folder: string; api: ApiConfig };

/** @param name under examples/, without .yaml: "api-auth/bearer" */
export function readExample(name: string): Example {
  const path = join(ROOT, 'examples', `${name}.yaml`);
  const { api } = inputSchema.parse(parse(readFileSync(path, 'utf8')));
  if (api === undefined) throw new Error(`${path} has no api`);
  return { name, folder: dirname(path), api };
}

/** Names of all examples with an api. */
export function exampleNames(): string[] {
  const files = globSync('examples/api-*/*.yaml', { cwd: ROOT });
  return files.map((file) => relative('examples', file).replace(/\.yaml$/, '')).toSorted();
}
