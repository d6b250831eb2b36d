/** One limit as a server states it; null = not told. */
export type StatedLimit = {
  /** Tells several limits of one server apart. */
  name: string;
  /** requests = so many a window; concurrent = so many at once. */
  unit: 'requests' | 'concurrent';
  limit: number | null;
  remaining: number | null;
  windowMs: number | null;
  /** From the moment the response came. */
  resetMs: number | null;
};

/** What has to be known to read a header. */
export type ReadContext = {
  /** The server's clock when it answered, Unix epoch ms. */
  serverWallMs: number;
};

const DECIMAL = /^\d{1,15}(\.\d{1,9})?$/;

/** @returns a finite number >= 0; undefined for anything else ("-1", "1e400", "inf", text, "") */
export function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  return DECIMAL.test(trimmed) ? Number(trimmed) : undefined;
}

/** @returns a limit > 0; a limit of 0 (or a sentinel) says nothing anybody could live by */
export function parseLimit(text: string | undefined): number | undefined {
  const value = parseCount(text);
  return value === undefined || value === 0 ? undefined : value;
}

/** A limit made of what was read; undefined when nothing useful was. */
export function statedLimit(read: {
  name: string;
  unit?: 'requests' | 'concurrent';
  limit?: number | undefined;
  remaining?: number | undefined;
  windowMs?: number | undefined;
  resetMs?: number | undefined;
}): StatedLimit | undefined {
  const { name, unit = 'requests', limit = null, remaining = null, windowMs = null, resetMs = null } = read;
  if (limit === null && remaining === null) return undefined;
  return { name, unit, limit, remaining, windowMs, resetMs };
}
