// RFC 7464: JSON text sequences begin each value with this.
const RECORD_SEPARATOR = 0x1e;

/** Media types of which the body is a list of values, also if there is but one. */
const LIST_TYPE =
  /^\s*application\/(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines|json-seq)\b|^\s*text\/(?:x-)?(?:ndjson|jsonl)\b/i;

/** @returns whether the media type is NDJSON, JSON Lines or a JSON text sequence */
export function isListType(contentType: string | undefined): boolean {
  return contentType !== undefined && LIST_TYPE.test(contentType);
}

/** One of several values in a text, not yet checked. */
export type ValueText = { text: string; offset: number };

/**
 * Cuts text into the JSON values that stand one after another: on lines of their own, or side by side.
 * @returns their texts, and where in the whole they start
 */
export function splitValues(text: string): ValueText[] {
  const values: ValueText[] = [];
  let index = skipSpace(text, 0);
  while (index < text.length) {
    const end = endOfValue(text, index);
    values.push({ text: text.slice(index, end), offset: index });
    index = skipSpace(text, end);
  }
  return values;
}

function skipSpace(text: string, start: number): number {
  let index = start;
  while (isSpace(text.charCodeAt(index))) index += 1;
  return index;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === RECORD_SEPARATOR || code === 0xfeff;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return Math.min(endOfString(text, start) + 1, text.length);
  return first === '{' || first === '[' ? endOfBrackets(text, start) : endOfWord(text, start);
}

function endOfBrackets(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index);
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return text.length;
}

// A number, true, false, null, or something that is no JSON.
function endOfWord(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && !isSpace(text.charCodeAt(index)) && !'{["'.includes(text[index]!)) index += 1;
  return index;
}

/** @returns the index of the closing quote, or the end of the text */
function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '"') return index;
    if (text[index] === '\\') index += 1;
  }
  return text.length;
}
