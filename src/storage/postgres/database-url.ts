import { UsageError } from '../../core/errors.ts';

/** Where a database is, as it may be shown: host, port and database, never user or password. */
export type DatabasePlace = { url: string; shown: string };

/**
 * @param text postgres://user:password@host:port/database; parts may be left out
 * @throws UsageError that repeats nothing of the text: it may be a secret
 */
export function databasePlace(text: string): DatabasePlace {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:'))
    throw new UsageError('--database must be a URL such as postgres://user@host:5432/database.');
  return { url: text, shown: `${url.host || 'localhost'}${url.pathname}` };
}
