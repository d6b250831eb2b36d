import type { StartUrl } from '../../config/input-schema.ts';
import { hostOf } from '../../core/host.ts';
import { hostOfNormalUrl } from '../../core/normal-url.ts';
import { uniqueKeyOf } from '../../core/unique-key.ts';
import type { NewRequest } from '../../storage/store.ts';
import { ListedRequest } from './listed.ts';
import type { RequestDefaults } from './types.ts';

/** A request, or why an entry is none. */
export type Entry = NewRequest | { reason: string };

/** @returns whether the entry is a request */
export function isRequest(entry: Entry): entry is NewRequest {
  return !('reason' in entry);
}

const LONGEST_SHOWN = 80;

/** @returns the request of a start URL: what it does not say is as the defaults say */
export function toRequest(start: StartUrl, defaults: RequestDefaults): Entry {
  const url = start.url.trim();
  const normalHost = hostOfNormalUrl(url);
  const reason = normalHost === null ? problemOf(url) : null;
  if (reason !== null) return { reason };
  const method = (start.method ?? defaults.method).toUpperCase();
  const hasBody = method !== 'GET' && method !== 'HEAD';
  if (start.payload !== undefined && !hasBody)
    return { reason: `a ${method} request carries no payload: add a method, POST for example` };
  const payload = hasBody ? (start.payload ?? defaults.body ?? undefined) : undefined;
  // The key of a GET is its normalised URL: looked at once, as this is done for every line of a long list.
  const isOwnKey = normalHost !== null && method === 'GET';
  const uniqueKey = isOwnKey ? url : uniqueKeyOf({ url, method, payload });
  const host = normalHost ?? hostOf(url);
  return new ListedRequest({ uniqueKey, url, host, method, label: start.label ?? null, data: dataOf(start, payload) });
}

function dataOf({ headers, userData }: StartUrl, payload: string | undefined): string | null {
  if (headers === undefined && userData === undefined && payload === undefined) return null;
  return JSON.stringify({ payload, headers, userData });
}

/** @returns why a text that is no normalised URL cannot be crawled; null when it can */
function problemOf(url: string): string | null {
  if (url === '') return 'the URL is empty';
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined) return `${shown(url)} is not an absolute URL${absoluteAdvice(url)}`;
  if (scheme !== 'http' && scheme !== 'https') return `${shown(url)} is not an http or https URL`;
  if (/\s/.test(url)) return `${shown(url)} has white space in it: one URL a line, and a space in it as %20`;
  return URL.canParse(url) ? null : `${shown(url)} is not a valid URL`;
}

function absoluteAdvice(url: string): string {
  return /^[\w-]+(\.[\w-]+)+([/:?]|$)/.test(url) ? `: write https://${shown(url)}` : '';
}

/** A text as it can stand in a message: short, and without control characters. */
function shown(text: string): string {
  const printable = text.replaceAll(/\p{Cc}/gu, '?');
  return printable.length > LONGEST_SHOWN ? `${printable.slice(0, LONGEST_SHOWN)}…` : printable;
}
