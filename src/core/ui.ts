/** Where people read along: stderr. What a command answers goes to stdout instead. */
export interface Ui {
  /** A terminal: lines may be rewritten. */
  readonly isTerminal: boolean;
  /** Width in characters; 80 when unknown. */
  readonly columns: number;
  /** Prints one or more whole lines (no newline at the end), above the status line. */
  print(text: string): void;
  /** Shows a line that is rewritten in place, cut to the width; null takes it away. Nothing happens off a terminal. */
  status(line: string | null): void;
}
