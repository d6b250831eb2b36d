import { TextDecoder } from 'node:util';
import { headerText, type ResponseHeaders } from '../core/headers.ts';

// Bytes that say how the text is encoded (WHATWG Encoding 6).
const BOMS: readonly { bytes: readonly number[]; charset: string }[] = [
  { bytes: [0xef, 0xbb, 0xbf], charset: 'utf-8' },
  { bytes: [0xff, 0xfe], charset: 'utf-16le' },
  { bytes: [0xfe, 0xff], charset: 'utf-16be' },
];
const BOM = '\ufeff';

const decoders = new Map<string, TextDecoder>();

/**
 * The body as text: by its byte order mark, else by the charset of Content-Type, else UTF-8, also where the charset
 * is unknown or misspelt ("uft-8"). The mark is dropped; bytes that are not valid become U+FFFD.
 */
export function decodeBody(body: Buffer, headers: ResponseHeaders): string {
  const decoder = legacyDecoder(body, headers);
  const text = decoder ? decoder.decode(body) : body.toString('utf8');
  return text.startsWith(BOM) ? text.slice(1) : text;
}

/** @returns whether the body is read as UTF-8 */
export function isUtf8(body: Buffer, headers: ResponseHeaders): boolean {
  return legacyDecoder(body, headers) === null;
}

function legacyDecoder(body: Buffer, headers: ResponseHeaders): TextDecoder | null {
  const charset = charsetOfBom(body) ?? charsetOf(headerText(headers, 'content-type'));
  return charset === undefined || charset === 'utf-8' || charset === 'utf8' ? null : decoderOf(charset);
}

/** @returns the charset parameter of a media type, lower case; undefined without one */
export function charsetOf(contentType: string | undefined): string | undefined {
  if (contentType === undefined || !/charset/i.test(contentType)) return undefined;
  return /charset\s*=\s*["']?([^\s"';,]+)/i.exec(contentType)?.[1]?.toLowerCase();
}

function charsetOfBom(body: Buffer): string | undefined {
  const first = body[0];
  if (first === undefined || first < 0xef) return undefined;
  return BOMS.find(({ bytes }) => bytes.every((byte, index) => body[index] === byte))?.charset;
}

// Charsets come from servers: the known labels are few, and unknown ones are not kept.
function decoderOf(charset: string): TextDecoder | null {
  const known = decoders.get(charset);
  if (known) return known;
  try {
    const decoder = new TextDecoder(charset);
    decoders.set(charset, decoder);
    return decoder;
  } catch {
    // RangeError: no such charset.
    return null;
  }
}
