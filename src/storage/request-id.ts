import { hash } from 'node:crypto';

const ID_LENGTH = 15;

/**
 * Crawlee's id of a request.
 * @returns the first 15 characters of the base64 SHA-256 of the unique key, without `+`, `/` and `=`
 * @see getRequestId in @crawlee/memory-storage and unique_key_to_request_id of the Apify platform
 */
export function requestIdOf(uniqueKey: string): string {
  const digest = hash('sha256', uniqueKey, 'base64');
  const start = digest.slice(0, ID_LENGTH);
  // Most digests need no cleaning, and this runs once for every request added or claimed.
  if (!start.includes('+') && !start.includes('/')) return start;
  return digest.replaceAll(/[+/=]/g, '').slice(0, ID_LENGTH);
}
