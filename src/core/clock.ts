/** Time, as handed down to everything that decides or waits. */
export interface Clock {
  /** Monotonic time in ms since an arbitrary start: for durations and deadlines within the process. */
  nowMs(): number;
  /** Unix epoch in ms: for times that are stored, shown or compared with a server's. */
  wallMs(): number;
  /**
   * Waits `delayMs` (>= 0; longer than a timer can hold is waited in pieces).
   * Rejects with the signal's reason when aborted. Keeps the process alive, since somebody awaits it.
   */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** Calls `action` once after `delayMs`; the returned function cancels it. Does not keep the process alive. */
  schedule(delayMs: number, action: () => void): () => void;
}

// Node fires a timer of more than 2^31-1 ms at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Timer = { cancel: () => void };

function startTimer(options: { delayMs: number; keepsAlive: boolean }, action: () => void): Timer {
  let timer: NodeJS.Timeout;
  const arm = (restMs: number): void => {
    const pieceMs = Math.min(Math.max(restMs, 0), LONGEST_TIMER_MS);
    timer = setTimeout(() => (restMs > pieceMs ? arm(restMs - pieceMs) : action()), pieceMs);
    if (!options.keepsAlive) timer.unref();
  };
  arm(options.delayMs);
  return { cancel: () => clearTimeout(timer) };
}

function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = startTimer({ delayMs, keepsAlive: true }, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    const abort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** The real clock. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep,
  schedule: (delayMs, action) => startTimer({ delayMs, keepsAlive: false }, action).cancel,
};
