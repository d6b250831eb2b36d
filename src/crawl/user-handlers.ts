import { MissingRouteError, type Request } from '@crawlee/core';
import type { JsonContext } from './json-context.ts';
import { labelsOfRouter } from './json-router.ts';

type Handler = (context: JsonContext) => unknown;
type AddHandler = (...args: unknown[]) => void;

/** The user's handlers: `requestHandler`, which may be a router, or what was added to `crawler.router`. */
export class UserHandlers {
  readonly #hasOwn: boolean;
  readonly #current: () => Handler;
  /** Whether anything was added to `crawler.router`: one that has nothing throws whenever it is asked. */
  #isRouterUsed = false;
  readonly #labels: string[] = [];

  constructor(options: {
    /** Whether the user gave a `requestHandler`. */
    hasOwn: boolean;
    /** The crawler's handler as it is now: its router when the user gave none. */
    current: () => Handler;
    /** `crawler.router`: its additions are watched. */
    router: object;
  }) {
    this.#hasOwn = options.hasOwn;
    this.#current = options.current;
    this.#watch(options.router as Record<string, AddHandler>);
  }

  /** Labels that have a handler, as far as they can be known. */
  get labels(): readonly string[] {
    return [...this.#labels, ...labelsOfRouter(this.#current())];
  }

  /** @returns the handler for a request; null when the user gave none for it */
  find(request: Request): Handler | null {
    if (!this.#hasOwn && !this.#isRouterUsed) return null;
    const handler = this.#current() as Handler & { getHandler?: (label: string | undefined) => unknown };
    if (typeof handler.getHandler !== 'function') return handler;
    try {
      handler.getHandler(request.label);
      return handler;
    } catch (error) {
      if (!(error instanceof MissingRouteError)) throw error;
      return null;
    }
  }

  #watch(router: Record<string, AddHandler>): void {
    for (const name of ['addHandler', 'addDefaultHandler']) {
      const add = router[name]!;
      router[name] = (...args) => {
        this.#isRouterUsed = true;
        if (typeof args[0] === 'string') this.#labels.push(args[0]);
        add(...args);
      };
    }
  }
}
