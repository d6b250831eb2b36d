// 128 + the signal's number, as shells have it.
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** The reason of the process's AbortSignal: somebody asked it to stop. State is to be saved, then ended. */
export class StopSignal extends Error {
  override readonly name = 'StopSignal';
  readonly signal: keyof typeof EXIT_CODES;
  readonly exitCode: number;
  constructor(signal: keyof typeof EXIT_CODES) {
    super(`stopped by ${signal}`);
    this.signal = signal;
    this.exitCode = EXIT_CODES[signal];
  }
}
