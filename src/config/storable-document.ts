import { isHarmlessHeader, isSecretName } from '../core/secret-names.ts';
import type { InputDocument } from './input-schema.ts';
import type { Setting } from './lay-over.ts';
import { pathText } from './path-text.ts';

/** A document that may be stored, and where secrets stood that it lacks: they have to be given again. */
export type StorableDocument = { document: InputDocument; missingSecrets: readonly string[] };

/**
 * Leaves out of a document the secrets that are written into it: header values but harmless ones, passwords in proxy
 * URLs, tokens and the like. References (`${env:NAME}`) stay, as they are no secrets.
 */
export function storableDocument(document: InputDocument): StorableDocument {
  const missingSecrets: string[] = [];
  const stored = withoutSecrets(document, [], missingSecrets) as InputDocument;
  return { document: stored, missingSecrets };
}

/** @returns those of the missing secrets that the command line has not given again, by --header */
export function secretsStillMissing(missingSecrets: readonly string[], settings: readonly Setting[]): string[] {
  const given = new Set(
    settings
      .filter(({ path }) => path[0] === 'headers')
      .flatMap(({ value }) => Object.keys(Object(value)).map((name) => pathText(['headers', name]).toLowerCase())),
  );
  return missingSecrets.filter((path) => !given.has(path.toLowerCase()));
}

type Path = readonly (string | number)[];

function withoutSecrets(value: unknown, path: Path, missing: string[]): unknown {
  if (typeof value === 'string' && isSecret(value, path)) {
    missing.push(pathText(path));
    return undefined;
  }
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    return items
      .map((item, index) => withoutSecrets(item, [...path, index], missing))
      .filter((item) => item !== undefined);
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, child]) => [key, withoutSecrets(child, [...path, key], missing)]);
  return Object.fromEntries(entries.filter(([, child]) => child !== undefined));
}

function isSecret(value: string, path: Path): boolean {
  // Start URLs are stored as requests, with their headers: they are what is crawled.
  if (path[0] === 'startUrls' || /\$\{(env|file):/.test(value)) return false;
  const name = String(path.findLast((key) => typeof key === 'string') ?? '');
  const parent = path.at(-2);
  if (parent === 'headers') return !isHarmlessHeader(name);
  if (name === 'proxyUrls') return /\/\/[^/]*@/.test(value);
  if (path[0] !== 'api' && path[0] !== 'hosts') return false;
  return isSecretName(name) || (parent === 'auth' && name === 'value');
}
