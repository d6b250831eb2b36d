import { parseExact } from '../core/exact-json.ts';
import { headerText, type ResponseHeaders } from '../core/headers.ts';
import { decodeBody, isUtf8 } from './charset.ts';
import { describeHtml, InvalidJsonError } from './invalid-json-error.ts';
import { jsonErrorPosition } from './json-error-position.ts';
import { type JsonScan, scanJson } from './json-scan.ts';
import { isListType, splitValues, type ValueText } from './json-sequence.ts';

export { decodeBody } from './charset.ts';
export { InvalidJsonError } from './invalid-json-error.ts';

/** Where a body came from. */
export type BodyFacts = {
  status: number;
  url: string;
  /** A type of lines (application/x-ndjson and its kin) makes a list of any body. */
  contentType?: string | undefined;
};

// Deeper than any API nests, and far from what overflows the stack of code that walks the value (SQLite: 1000 as well).
const MOST_DEPTH = 1000;

/**
 * Reads a response's body as JSON, whatever its content type says.
 * @returns its text, and the value; a list for NDJSON, JSON Lines and values side by side; null for an empty body with
 *   204 or 205. Integers beyond 2^53 are BigInt, other numbers that a double cannot hold `JSON.rawJSON` objects. A key
 *   "__proto__" is an own property like any other.
 * @throws InvalidJsonError
 */
export function readJsonBody(
  body: Buffer,
  headers: ResponseHeaders,
  facts: Omit<BodyFacts, 'contentType'>,
): { text: string; value: unknown } {
  const text = decodeBody(body, headers);
  const scan = scanJson(isUtf8(body, headers) ? body : Buffer.from(text));
  const contentType = headerText(headers, 'content-type');
  return { text, value: parse(text, { ...facts, contentType }, scan) };
}

/** As `readJsonBody`, but the value only. */
export function parseJsonBody(body: Buffer, headers: ResponseHeaders, facts: Omit<BodyFacts, 'contentType'>): unknown {
  return readJsonBody(body, headers, facts).value;
}

/**
 * As `readJsonBody`, for text that was decoded before, without its byte order mark.
 * @throws InvalidJsonError
 */
export function parseJsonText(text: string, facts: BodyFacts): unknown {
  return parse(text, facts, scanJson(Buffer.from(text)));
}

function parse(text: string, facts: BodyFacts, scan: JsonScan): unknown {
  if (scan.depth > MOST_DEPTH) {
    const reason = `nested deeper than ${MOST_DEPTH} levels`;
    throw new InvalidJsonError({ url: facts.url, text, reason, position: null });
  }
  const parseValue = scan.hasInexactNumber ? parseExact : JSON.parse;
  if (isListType(facts.contentType)) return parseList(text, { facts, parseValue });
  try {
    return parseValue(text);
  } catch (error) {
    return recover(text, { facts, parseValue, error });
  }
}

type Parse = (text: string) => unknown;

function parseList(text: string, { facts, parseValue }: { facts: BodyFacts; parseValue: Parse }): unknown[] {
  return splitValues(text).map((value) => {
    try {
      return parseValue(value.text);
    } catch (error) {
      throw invalidJson(text, { facts, error, value });
    }
  });
}

/** What is not one value may be several, or nothing at all. */
function recover(text: string, context: { facts: BodyFacts; parseValue: Parse; error: unknown }): unknown {
  const { facts, parseValue, error } = context;
  if (text.trim() === '') {
    if (facts.status === 204 || facts.status === 205) return null;
    throw new InvalidJsonError({ url: facts.url, text, reason: 'it is empty', position: null }, { cause: error });
  }
  const values = splitValues(text);
  if (values.length > 1 && isValid(values[0]!.text, parseValue)) return parseList(text, { facts, parseValue });
  throw invalidJson(text, { facts, error, value: { text, offset: 0 } });
}

function isValid(text: string, parseValue: Parse): boolean {
  try {
    parseValue(text);
    return true;
  } catch {
    return false;
  }
}

function invalidJson(text: string, failure: { facts: BodyFacts; error: unknown; value: ValueText }): InvalidJsonError {
  const { facts, error, value } = failure;
  const html = describeHtml(text);
  if (html) return new InvalidJsonError({ url: facts.url, text, reason: html, position: null }, { cause: error });
  const { reason, position } = readSyntaxError(error, value.text);
  return new InvalidJsonError({ url: facts.url, text, reason, position: position + value.offset }, { cause: error });
}

// V8 says the position in some of its messages only, and quotes foreign text in the others.
function readSyntaxError(error: unknown, text: string): { reason: string; position: number } {
  const message = error instanceof Error ? error.message : String(error);
  const placed = /^(?!Unexpected token)(.*?)(?: in| after) JSON at position (\d+)/s.exec(message);
  if (placed) return { reason: placed[1]!, position: Number(placed[2]) };
  const position = jsonErrorPosition(text);
  if (position === text.length) return { reason: 'it breaks off', position };
  const token = /[\w.+-]{1,30}|./suy;
  token.lastIndex = position;
  return { reason: `unexpected "${token.exec(text)?.[0]}"`, position };
}
