import { type HostConfig, hostSchema } from './host-schema.ts';
import type { Input } from './input-schema.ts';

type HostEntries = Input['hosts'];

/**
 * Settings of one host: the exact entry, over patterns (the longest first), over `default`, over the schema's.
 * @param host `URL.host`
 */
export function hostConfig(entries: HostEntries, host: string): HostConfig {
  const layers = Object.keys(entries)
    .filter((pattern) => pattern === 'default' || matchesHost(pattern, host))
    .sort((a, b) => specificity(a, host) - specificity(b, host))
    .map((pattern) => entries[pattern]);
  return hostSchema.parse(mergeLayers(layers));
}

/** @param pattern a host, or one with "*" for any run of characters; case does not matter */
export function matchesHost(pattern: string, host: string): boolean {
  if (!pattern.includes('*')) return pattern.toLowerCase() === host;
  const source = pattern.toLowerCase().split('*').map(escapeRegExp).join('.*');
  return new RegExp(`^${source}$`).test(host);
}

function specificity(pattern: string, host: string): number {
  if (pattern === 'default') return -1;
  return pattern.toLowerCase() === host ? Number.POSITIVE_INFINITY : pattern.length;
}

function mergeLayers(layers: readonly (object | undefined)[]): object {
  const merged: Record<string, unknown> = {};
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer ?? {})) {
      const below = merged[key];
      merged[key] = isPlainObject(value) && isPlainObject(below) ? { ...below, ...value } : value;
    }
  }
  return merged;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
}
