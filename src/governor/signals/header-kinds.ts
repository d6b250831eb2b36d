import type { ResponseHeaders } from '../../core/headers.ts';

/** Bits of what a response's header names can speak of. */
export const IETF = 1;
export const DIALECT = 2;
export const VENDOR = 4;

const IETF_NAME = /^ratelimit(-policy)?$/;
const VENDOR_NAME =
  /^(x-shopify-shop|sforce-limit|x-hubspot-ratelimit|x-ratelimit-re(plenish|quested)|zendesk-|x-ms-ratelimit)/;
const DIALECT_NAME = /rate-?limit/;
// Names repeat from response to response, so each is judged once; a server that invents names must not fill the memory.
const MOST_NAMES = 5_000;
const kinds = new Map<string, number>();

/** @returns the bits of all header names together; 0 = nothing speaks of limits */
export function headerKinds(headers: ResponseHeaders): number {
  let bits = 0;
  for (const name in headers) bits |= kinds.get(name) ?? judge(name);
  return bits;
}

function judge(name: string): number {
  let kind = 0;
  if (IETF_NAME.test(name)) kind = IETF;
  else if (VENDOR_NAME.test(name)) kind = VENDOR;
  else if (DIALECT_NAME.test(name)) kind = DIALECT;
  if (kinds.size < MOST_NAMES) kinds.set(name, kind);
  return kind;
}
