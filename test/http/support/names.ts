import type { Resolve } from '../../../src/http/dns-cache.ts';

/** Resolves these names, and no others. */
export function resolveOnly(names: Record<string, string>): Resolve {
  return async (hostname) => {
    const address = names[hostname];
    if (address) return [{ address, family: address.includes(':') ? 6 : 4 }];
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND' });
  };
}
