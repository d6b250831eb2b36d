import { normalHost } from './normal-url.ts';

/**
 * The host a request is paced by.
 * @param url an absolute http(s) URL
 * @returns `URL.host`: lower case, default port left out
 * @throws TypeError when the URL is not absolute
 */
export function hostOf(url: string): string {
  return normalHost(url) ?? new URL(url).host;
}

/** What shares one budget: host x credential x egress (x bucket, where the server names one). */
export type KeyParts = { host: string; credential?: string; egress?: string; bucket?: string };

/** @returns the governor's key: the host alone while nothing else is set, so that it reads well in a log. */
export function keyOf({ host, credential, egress, bucket }: KeyParts): string {
  if (!credential && !egress && !bucket) return host;
  return `${host}#${credential ?? ''}#${egress ?? ''}#${bucket ?? ''}`;
}

/** @returns the host a key belongs to. */
export function hostOfKey(key: string): string {
  const end = key.indexOf('#');
  return end < 0 ? key : key.slice(0, end);
}
