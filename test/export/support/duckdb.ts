import { createRequire } from 'node:module';

type Reader = {
  getRows(): unknown[][];
  columnNames(): string[];
  columnTypes(): { alias?: string; toString(): string }[];
};
type Connection = { runAndReadAll(sql: string): Promise<Reader>; closeSync(): void };
type DuckDbApi = { DuckDBInstance: { create(): Promise<{ connect(): Promise<Connection> }> } };

const require = createRequire(new URL('../../tools/package.json', import.meta.url));

/** Why DuckDB cannot be used here; null when it can. */
export const duckDbMissing: string | null = isInstalled() ? null : 'DuckDB is not installed: npm run tools';

function isInstalled(): boolean {
  try {
    require.resolve('@duckdb/node-api');
    return true;
  } catch {
    return false;
  }
}

/** A foreign reader of our files. */
export async function connectDuckDb(): Promise<Connection> {
  const { DuckDBInstance } = require('@duckdb/node-api') as DuckDbApi;
  return (await DuckDBInstance.create()).connect();
}

/** A path or text in SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
