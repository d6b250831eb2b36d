import { jsonText, parseExactJson, withValueAt } from '../json-value.ts';
import type { PageRequest } from './paginator.ts';

/** Where a paginator puts its value. */
export type ValueTarget = { param: string } | { header: string } | { bodyPath: string };

/** @returns the request with the value set; anything it had there is replaced, all else stays as it was. */
export function withPageValue(request: PageRequest, target: ValueTarget, value: string | number): PageRequest {
  if ('param' in target) return { ...request, url: withParam(request.url, target.param, String(value)) };
  if ('header' in target)
    return { ...request, headers: { ...request.headers, [target.header.toLowerCase()]: String(value) } };
  return { ...request, payload: withBodyValue(request.payload, target.bodyPath, value) };
}

/**
 * Sets one query parameter and leaves the text of the others alone: URLSearchParams would re-encode them (%20 to +,
 * filter[x] to filter%5Bx%5D), which some servers and every signature mind.
 */
export function withParam(url: string, name: string, value: string): string {
  const [withoutHash = '', hash] = splitAt(url, '#');
  const [base = '', query] = splitAt(withoutHash, '?');
  const pair = `${encodeQuery(name)}=${encodeQuery(value)}`;
  const pairs = (query ?? '').split('&').filter((part) => part !== '');
  const at = pairs.findIndex((part) => nameOf(part) === name);
  const others = pairs.filter((part) => nameOf(part) !== name);
  others.splice(at < 0 ? others.length : at, 0, pair);
  return `${base}?${others.join('&')}${hash === undefined ? '' : `#${hash}`}`;
}

/** @returns the URL without a query parameter, the others as they were. */
export function withoutParam(url: string, name: string): string {
  const [withoutHash = '', hash] = splitAt(url, '#');
  const [base = '', query] = splitAt(withoutHash, '?');
  if (query === undefined) return url;
  const kept = query.split('&').filter((part) => nameOf(part) !== name);
  return `${base}${kept.length > 0 ? `?${kept.join('&')}` : ''}${hash === undefined ? '' : `#${hash}`}`;
}

/** Escapes what would end or break a query value; brackets, colons, commas and `${env:NAME}` references stay readable. */
export function encodeQuery(text: string): string {
  const parts = text.split(REFERENCE);
  return parts.map((part, at) => (at % 2 === 1 ? part : encodePlain(part))).join('');
}

const REFERENCE = /(\$\{(?:env|file):[^{}]+\})/;

function encodePlain(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:3A|2C|2F|40|5B|5D)/g, decodeURIComponent);
}

function withBodyValue(payload: string | null, path: string, value: string | number): string {
  const body: unknown = payload === null ? {} : parseExactJson(payload);
  return jsonText(withValueAt(body, path, value));
}

function nameOf(pair: string): string {
  const [name = ''] = splitAt(pair, '=');
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name; // A stray % is the server's own style.
  }
}

function splitAt(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
