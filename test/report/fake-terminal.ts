import type { TextStream } from '../../src/report/terminal.ts';

/** A terminal that wraps, reflows when it is resized, and knows the few escapes we write; any other throws. */
export class FakeTerminal implements TextStream {
  readonly isTTY: boolean = true;
  columns: number;
  writes = 0;
  /** Everything written, as it came. */
  raw = '';
  #lines: string[] = [''];

  constructor(columns = 80) {
    this.columns = columns;
  }

  write(text: string): void {
    this.writes++;
    this.raw += text;
    for (const [part] of text.matchAll(TOKENS)) this.#apply(part);
  }

  /** What is on the screen, row by row, wrapped as now; without the empty row the cursor is on. */
  get rows(): string[] {
    return this.#lines.slice(0, -1).flatMap((line) => this.#wrapped(line));
  }

  #apply(part: string): void {
    if (part === '\n') this.#lines.push('');
    else if (part === '\r' || part === '\u001b[J' || COLOUR.test(part)) return;
    else if (UP.test(part)) this.#up(Number(part.slice(2, -1)));
    else if (part.startsWith('\u001b')) throw new Error(`Unknown escape ${JSON.stringify(part)}`);
    else this.#lines.push(`${this.#lines.pop()}${part}`);
  }

  // Always followed by an erasure to the end, so what lies below goes at once.
  #up(count: number): void {
    this.#lines.pop();
    for (let left = count; left > 0; ) {
      const rows = this.#wrapped(this.#lines.pop() ?? '');
      if (rows.length > left) throw new Error('The cursor ended within a line of somebody else');
      left -= rows.length;
    }
    this.#lines.push('');
  }

  #wrapped(line: string): string[] {
    return line.length === 0 ? [''] : (line.match(new RegExp(`.{1,${this.columns}}`, 'gu')) ?? []);
  }
}

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: a terminal reads control characters
const COLOUR = /^\u001b\[\d+m$/;
const UP = /^\u001b\[\d+A$/;
const TOKENS = /\u001b\[\d*[A-Za-z]|\n|\r|[^\u001b\n\r]+/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above
