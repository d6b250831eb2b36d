import { isIP } from 'node:net';

/**
 * Whether a Host header names this machine in a way that no foreign web page can: by an address, as localhost, or by a
 * name of `names`. Any other name may be one whose owner points it here to read the page (DNS rebinding).
 * @param header as it came; undefined when there was none
 */
export function isOwnHost(header: string | undefined, names: readonly string[] = []): boolean {
  if (header === undefined || !/^[\w.:[\]-]+$/.test(header) || !URL.canParse(`http://${header}`)) return false;
  const name = new URL(`http://${header}`).hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost') || names.includes(name);
}
