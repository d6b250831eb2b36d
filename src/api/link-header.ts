/** One link of a Link header. */
export type Link = {
  /** As written; relative to the page's URL. */
  target: string;
  /** Relation types in lower case (extension relations, which are URLs, as written). */
  rel: readonly string[];
  /** Names in lower case, first occurrence; values unquoted, `title*` and the like decoded. */
  params: Readonly<Record<string, string>>;
};

/**
 * Parses a Link header. Broken parts are passed over, links after them still found, as RFC 8288 asks.
 * @param header the header's text; several headers joined by ", "
 * @see RFC 8288 appendix B.2 and B.3
 */
export function parseLinkHeader(header: string): Link[] {
  const reader = { text: header, at: 0 };
  const links: Link[] = [];
  while (reader.at < header.length) {
    skip(reader, /[\s,]*/y);
    if (reader.at >= header.length) break;
    const link = readLink(reader);
    if (link === null) skip(reader, /[^,]*/y);
    else links.push(link);
  }
  return links;
}

/** @returns the target of the first link with that relation; undefined when none has it. */
export function linkTarget(links: readonly Link[], rel: string): string | undefined {
  const wanted = rel.toLowerCase();
  return links.find((link) => link.rel.some((type) => type.toLowerCase() === wanted))?.target;
}

type Reader = { readonly text: string; at: number };

function readLink(reader: Reader): Link | null {
  const target = take(reader, /<([^>]*)>/y);
  if (target === null) return null;
  const params = readParams(reader);
  const rel = (params.rel ?? '').split(/\s+/).filter(Boolean);
  return { target: target.trim(), rel: rel.map((type) => (type.includes(':') ? type : type.toLowerCase())), params };
}

function readParams(reader: Reader): Record<string, string> {
  const params: Record<string, string> = {};
  for (;;) {
    skip(reader, /\s*/y);
    if (take(reader, /(;)/y) === null) break;
    skip(reader, /\s*/y);
    const name = take(reader, /([^\s=;,]+)/y)?.toLowerCase();
    if (name === undefined) continue;
    skip(reader, /\s*/y);
    const value = take(reader, /(=)/y) === null ? '' : readValue(reader);
    // "rel" must not appear twice: later ones are ignored (3.3); the same is done for all.
    if (!Object.hasOwn(params, name)) params[name] = name.endsWith('*') ? decodeExtValue(value) : value;
  }
  return params;
}

function readValue(reader: Reader): string {
  skip(reader, /\s*/y);
  const quoted = take(reader, /"((?:[^"\\]|\\.)*)"?/sy);
  if (quoted !== null) return quoted.replaceAll(/\\(.)/gs, '$1');
  return take(reader, /([^;,]*)/y)?.trimEnd() ?? '';
}

/** RFC 8187 3.2: charset'language'percent-encoded. */
function decodeExtValue(value: string): string {
  const [, charset, encoded] = /^([^']*)'[^']*'(.*)$/.exec(value) ?? [];
  if (charset?.toLowerCase() !== 'utf-8' || encoded === undefined) return value;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return value; // Not UTF-8 after all: the text as written is all there is.
  }
}

function take(reader: Reader, pattern: RegExp): string | null {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.text);
  if (match === null) return null;
  reader.at = pattern.lastIndex;
  return match[1] ?? '';
}

function skip(reader: Reader, pattern: RegExp): void {
  pattern.lastIndex = reader.at;
  pattern.exec(reader.text);
  reader.at = Math.max(reader.at, pattern.lastIndex);
}
