// 128 + the signal's number, as shells have it.
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

// `docker stop` kills after 10 s, and what there is has to be saved by then.
const DRAIN_MS = 8_000;

/** The reason of the process's AbortSignal: somebody asked it to stop. State is to be saved, then ended. */
export class StopSignal extends Error {
  override readonly name = 'StopSignal';
  readonly signal: keyof typeof EXIT_CODES;
  readonly exitCode: number;
  /** How long requests in flight may take to end, ms. */
  readonly drainMs: number;
  constructor(signal: keyof typeof EXIT_CODES, { drainMs = DRAIN_MS } = {}) {
    super(`stopped by ${signal}`);
    this.signal = signal;
    this.drainMs = drainMs;
    this.exitCode = EXIT_CODES[signal];
  }
}
