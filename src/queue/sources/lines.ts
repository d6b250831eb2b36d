import { StringDecoder } from 'node:string_decoder';
import type { Bytes } from './bytes.ts';

// A file without line breaks must not fill the memory; a JSON line with a payload may be long.
const LONGEST_LINE = 16 * 1024 * 1024;

const BYTE_ORDER_MARK = '\uFEFF';

/** Stands for a line that is too long to be one: it is dropped. */
export const TOO_LONG = Symbol('a line of more than 16 MiB');

/** Without its line break. */
export type Line = string | typeof TOO_LONG;

/** The lines of a text, as many at a time as were read. */
export type Lines = AsyncGenerator<Line[], void, void>;

/**
 * Cuts bytes into lines at LF or CRLF. UTF-8, or UTF-16 little-endian where a byte order mark says so (as PowerShell
 * and Excel write it); the mark is dropped.
 */
export async function* readLines(bytes: Bytes): Lines {
  const cutter = new LineCutter();
  for await (const chunk of bytes) {
    const lines = cutter.push(chunk);
    if (lines.length > 0) yield lines;
  }
  const last = cutter.end();
  if (last.length > 0) yield last;
}

class LineCutter {
  #decoder: StringDecoder | null = null;
  /** The beginning of a line whose end has not come yet. */
  #open = '';
  #isTooLong = false;

  push(chunk: Buffer): Line[] {
    if (this.#decoder !== null) return this.#cut(this.#decoder.write(chunk));
    this.#decoder = new StringDecoder(isUtf16(chunk) ? 'utf16le' : 'utf8');
    const text = this.#decoder.write(chunk);
    return this.#cut(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  }

  end(): Line[] {
    const lines = this.#cut(`${this.#decoder?.end() ?? ''}\n`);
    const last = lines.at(-1);
    return last === '' ? lines.slice(0, -1) : lines;
  }

  #cut(text: string): Line[] {
    const lines: Line[] = text.split('\n');
    const rest = lines.pop() as string;
    if (lines.length === 0) {
      this.#extend(rest);
      return [];
    }
    lines[0] = this.#closed(lines[0] as string);
    this.#extend(rest);
    for (let index = 0; index < lines.length; index++) {
      const line = lines[index];
      if (typeof line === 'string' && line.endsWith('\r')) lines[index] = line.slice(0, -1);
    }
    return lines;
  }

  #closed(end: string): Line {
    const line = this.#isTooLong ? TOO_LONG : this.#open + end;
    this.#open = '';
    this.#isTooLong = false;
    return line;
  }

  #extend(part: string): void {
    if (!this.#isTooLong && this.#open.length + part.length <= LONGEST_LINE) this.#open += part;
    else {
      this.#open = '';
      this.#isTooLong = true;
    }
  }
}

function isUtf16(chunk: Buffer): boolean {
  return chunk[0] === 0xff && chunk[1] === 0xfe;
}
