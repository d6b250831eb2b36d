import { pathToFileURL } from 'node:url';
import { messageOf } from '../core/errors.ts';

/** Loads a module of the user's; relative paths start from the input document. */
export type ImportModule = (path: string) => Promise<Record<string, unknown>>;

/** @param pathOf makes a path absolute. TypeScript files load too, by Node's type stripping. */
export function moduleImporter(pathOf: (path: string) => string): ImportModule {
  return (path) => import(pathToFileURL(pathOf(path)).href);
}

/** A module of the user's that cannot be used. */
export class ModuleError extends Error {
  override readonly name = 'ModuleError';
}

/**
 * @param reference the module, and the export wanted; `fallback` when it names none
 * @returns a function of the user's
 * @throws ModuleError when the module cannot be loaded or has no such function
 */
export async function loadFunction(
  reference: { module: string; export?: string | undefined; fallback: string },
  load: ImportModule,
): Promise<(...args: never[]) => unknown> {
  const name = reference.export ?? reference.fallback;
  const module = await load(reference.module).catch((error: unknown) => {
    throw new ModuleError(`${reference.module} cannot be loaded: ${messageOf(error)}`, { cause: error });
  });
  const found = module[name];
  if (typeof found === 'function') return found as (...args: never[]) => unknown;
  const exported = Object.keys(module).join(', ') || 'nothing';
  throw new ModuleError(`${reference.module} exports no function "${name}"; it exports ${exported}`);
}
