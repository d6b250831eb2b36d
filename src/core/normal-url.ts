// A host that the WHATWG parser leaves as it is: lower-case labels whose last starts with a letter (one that starts with
// a digit may be read as an IPv4 address), none of them punycode (which is validated); or four plain decimal bytes.
const LABEL = '(?!xn--)[a-z0-9_-]+';
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const HOST = `(?:(?:${LABEL}\\.)*(?!xn--)[a-z][a-z0-9_-]*|${BYTE}(?:\\.${BYTE}){3})`;
// Not the scheme's default, which is dropped; no leading zero; up to 65535.
const PORT = '(?::(?!80[/?#]|443[/?#])(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d\\d|655[0-2]\\d|6553[0-5]))?';
// Characters that neither the path nor the query percent-encode set holds, less some rare ones.
const PATH_CHARACTER = "[A-Za-z0-9._~!$&'()*+,;=:@%-]";
const QUERY_CHARACTER = '[A-Za-z0-9._~!$&()*+,;=:@%/?-]';
// A segment that starts with a dot, in any spelling, may be "." or "..", which are resolved.
const PATH = `(?:/(?!\\.|%2[eE])${PATH_CHARACTER}*)+`;

const NORMAL_URL = new RegExp(`^https?://(${HOST}${PORT})${PATH}(?:\\?${QUERY_CHARACTER}*)?$`);
const NORMAL_HOST = new RegExp(`^https?://(${HOST}${PORT})[/?#]`);

/**
 * Whether a URL is certainly as the WHATWG parser would write it, and without a fragment: two to three times cheaper
 * than to parse it. false says nothing: such a URL has to be parsed.
 * @see https://url.spec.whatwg.org/#concept-basic-url-parser
 */
export function isNormalUrl(url: string): boolean {
  return NORMAL_URL.test(url);
}

/** @returns `URL.host` of a URL that `isNormalUrl`; null of any other */
export function hostOfNormalUrl(url: string): string | null {
  return NORMAL_URL.exec(url)?.[1] ?? null;
}

/** @returns `URL.host` where it stands in the text as it is; null where the URL has to be parsed */
export function normalHost(url: string): string | null {
  return NORMAL_HOST.exec(url)?.[1] ?? null;
}
