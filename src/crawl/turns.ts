/**
 * Lets the network go first: what waits here goes on after the event loop has read what the sockets hold, and the
 * requests that take the freed slots are on the wire.
 */
export class Turns {
  #waiting: (() => void)[] = [];

  /** @returns resolves in the next turn of the event loop */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#goOn());
    });
  }

  #goOn(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}
