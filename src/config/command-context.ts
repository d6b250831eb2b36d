import type { Writable } from 'node:stream';
import type { Ports } from '../core/ports.ts';
import type { Ui } from '../core/ui.ts';

/** What a command of the app is handed besides its job. */
export type CommandContext = {
  ports: Ports;
  /** Aborted with a StopSignal on SIGINT or SIGTERM. */
  signal: AbortSignal;
  /** For answers only: the summary, a status, a document. */
  stdout: Writable;
  stdin: NodeJS.ReadableStream;
  /** For everything people read along. */
  ui: Ui;
  /** For `${env:NAME}` references alone. */
  env: Readonly<Record<string, string | undefined>>;
};
