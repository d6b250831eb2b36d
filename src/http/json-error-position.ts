/** What may come next. */
type Expected = 'value' | 'valueOrClose' | 'key' | 'keyOrClose' | 'colon' | 'commaOrClose' | 'end';

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

/**
 * Finds the first token that JSON does not allow where it stands, for `JSON.parse` says the position only sometimes.
 * @returns its offset in characters; the length of the text when that breaks off, or is valid
 */
export function jsonErrorPosition(text: string): number {
  const closers: string[] = [];
  let expected: Expected = 'value';
  let index = endOf(SPACE, text, 0);
  while (index < text.length) {
    const token = text[index]!;
    if (token === closers.at(-1) && expected.endsWith('OrClose')) {
      closers.pop();
      expected = afterValue(closers);
      index += 1;
    } else if (expected === 'colon' || expected === 'commaOrClose') {
      if (token !== (expected === 'colon' ? ':' : ',')) return index;
      expected = expected === 'commaOrClose' && closers.at(-1) === '}' ? 'key' : 'value';
      index += 1;
    } else if (expected.startsWith('value') && (token === '{' || token === '[')) {
      closers.push(token === '{' ? '}' : ']');
      expected = token === '{' ? 'keyOrClose' : 'valueOrClose';
      index += 1;
    } else {
      const end = expected === 'end' ? index : endOfScalar(text, { index, isKey: expected.startsWith('key') });
      if (end === index) return index;
      expected = expected.startsWith('key') ? 'colon' : afterValue(closers);
      index = end;
    }
    index = endOf(SPACE, text, index);
  }
  return text.length;
}

function afterValue(closers: readonly string[]): Expected {
  return closers.length > 0 ? 'commaOrClose' : 'end';
}

/** @returns where a string, number, true, false or null ends; `index` when there is none */
function endOfScalar(text: string, { index, isKey }: { index: number; isKey: boolean }): number {
  if (text[index] !== '"') return isKey ? index : endOf(SCALAR, text, index);
  for (let end = index + 1; end < text.length; end += 1) {
    if (text[end] === '"') return end + 1;
    if (text[end] === '\\') end += 1;
  }
  return text.length;
}

function endOf(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index;
  return pattern.test(text) ? pattern.lastIndex : index;
}
