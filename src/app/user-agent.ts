import { readFileSync } from 'node:fs';
import type { Input } from '../config/input-schema.ts';

/** @returns the version in package.json */
export function ownVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** An honest name, and whom to write to. */
export function userAgentOf({ userAgent, contact }: Pick<Input, 'userAgent' | 'contact'>): string {
  if (userAgent !== null) return userAgent;
  return contact === null ? `millrace/${ownVersion()}` : `millrace/${ownVersion()} (+${contact})`;
}
