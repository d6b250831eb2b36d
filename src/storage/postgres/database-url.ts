import { UsageError } from '../../core/errors.ts';

/** Where a database is. `shown` is host, port and database, never user or password. */
export type DatabasePlace = { url: string; schema: string; shown: string };

export const DEFAULT_SCHEMA = 'millrace';
const SCHEMA_PARAMETER = 'schema';

/**
 * @param text postgres://user:password@host:port/database?schema=name; parts may be left out
 * @throws UsageError that repeats nothing of the text: it may be a secret
 */
export function databasePlace(text: string): DatabasePlace {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:'))
    throw new UsageError('--database must be a URL such as postgres://user@host:5432/database.');
  const schema = url.searchParams.get(SCHEMA_PARAMETER) || DEFAULT_SCHEMA;
  url.searchParams.delete(SCHEMA_PARAMETER);
  return { url: url.href, schema, shown: `${url.host || 'localhost'}${url.pathname}` };
}
