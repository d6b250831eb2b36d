/** What is needed of a stream to write to: process.stderr is one. */
export type TextStream = {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
};

/** @see https://no-color.org: any value but an empty one turns colours off; FORCE_COLOR turns them on */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, stream: TextStream): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0') return true;
  return stream.isTTY === true && env.TERM !== 'dumb';
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const;
export type Style = keyof typeof CODES;
export type Painter = (style: Style, text: string) => string;

/** @returns a function that colours text, or leaves it alone */
export function painter(color: boolean): Painter {
  return color ? (style, text) => `\u001b[${CODES[style]}m${text}\u001b[0m` : (_, text) => text;
}

// Colours only: nothing else of ours writes escapes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
const STYLE_CODE = /\u001b\[\d+m/g;

/** @returns columns the text takes, colours not counted */
export function widthOf(text: string): number {
  return text.replaceAll(STYLE_CODE, '').length;
}

/** @returns the text cut to so many columns, ending in "…" where it was; colours are dropped when it is cut */
export function clip(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const plain = text.replaceAll(STYLE_CODE, '');
  return columns < 1 ? '' : `${plain.slice(0, columns - 1)}…`;
}

/** Shortens in the middle, so that both ends stay readable: for URLs and paths. */
export function clipMiddle(text: string, columns: number): string {
  if (text.length <= columns) return text;
  const head = Math.ceil((columns - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (columns - 1 - head))}`;
}

const DEFAULT_COLUMNS = 80;

/**
 * The bottom lines of a terminal, drawn over and over, with a log that scrolls above them. The only writer of its
 * stream while it is in use.
 */
export class LiveArea {
  readonly #stream: TextStream;
  #drawn: readonly string[] = [];

  constructor(stream: TextStream) {
    this.#stream = stream;
  }

  get columns(): number {
    return this.#stream.columns || DEFAULT_COLUMNS;
  }

  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Replaces the lines at the bottom. Each is cut to the width of the terminal. */
  draw(lines: readonly string[]): void {
    // One column stays free: some terminals wrap when the last one is written.
    const fitting = lines.map((line) => clip(line, this.columns - 1));
    this.#stream.write(this.#erasure() + fitting.map((line) => `${line}\n`).join(''));
    this.#drawn = fitting;
  }

  /** Writes whole lines above those at the bottom. */
  print(text: string): void {
    const below = this.#drawn.map((line) => `${line}\n`).join('');
    this.#stream.write(`${this.#erasure()}${text}\n${below}`);
  }

  /** Takes the lines at the bottom away. */
  clear(): void {
    if (this.#drawn.length > 0) this.#stream.write(this.#erasure());
    this.#drawn = [];
  }

  // A terminal made narrower since has wrapped what was drawn: rows are counted by its width of now.
  #erasure(): string {
    if (this.#drawn.length === 0) return '';
    const rows = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / this.columns)), 0);
    return `\u001b[${rows}A\r\u001b[J`;
  }
}
