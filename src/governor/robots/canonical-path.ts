// Characters that mean the same with and without percent-encoding. RFC 9309 2.2.2 names the unreserved ones of RFC 3986;
// to these come six that URL parsers and encoders disagree about: a rule with "filter[a]" must hold for %5Ba%5D too.
const SAME_WHEN_ENCODED = /^[A-Za-z0-9\-._~!'()[\]]$/;
// In a query these have no meaning of their own (RFC 3986 3.4), and the table in RFC 9309 2.2.2 treats them as equal.
const SAME_IN_QUERY = /^[:/?@]$/;
// What stands as it is. "*" and "$" are missing: in a URL they are literal, in a pattern they are not.
const PLAIN = /^[A-Za-z0-9\-._~!'()[\]:/?@&=+,;]*$/;
const ENCODED_OR_NOT_PLAIN = /%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!'()[\]:/?@&=+,;]/gu;

/**
 * Writes a path and query in the one form in which rules and URLs are compared, octet by octet: non-ASCII characters
 * and others that a URL cannot have percent-encoded, upper-case hex, and nothing encoded that need not be. "*" and "$"
 * are encoded: whoever gives them a meaning takes them out first.
 * @param path path with query, as in a URL, or a piece of one
 * @param startsInQuery the piece comes after the "?"
 */
export function canonicalPath(path: string, startsInQuery = false): string {
  if (PLAIN.test(path)) return path;
  const queryStart = startsInQuery ? -1 : queryStartOf(path);
  return path.replaceAll(ENCODED_OR_NOT_PLAIN, (match, offset: number) => canonical(match, offset > queryStart));
}

function queryStartOf(path: string): number {
  const mark = path.indexOf('?');
  return mark < 0 ? path.length : mark;
}

function canonical(match: string, isInQuery: boolean): string {
  if (match.length !== 3 || match[0] !== '%') return encode(match);
  const octet = String.fromCharCode(Number.parseInt(match.slice(1), 16));
  const isSame = SAME_WHEN_ENCODED.test(octet) || (isInQuery && SAME_IN_QUERY.test(octet));
  return isSame ? octet : match.toUpperCase();
}

function encode(character: string): string {
  let encoded = '';
  for (const octet of Buffer.from(character)) encoded += `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
  return encoded;
}
