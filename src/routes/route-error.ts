import { CrawlError } from '../core/errors.ts';

/** A request's label that no route has. The request fails; the crawl goes on. */
export class UnknownLabelError extends CrawlError {
  override readonly name = 'UnknownLabelError';
  readonly code = 'UNKNOWN_LABEL';
  readonly recovery = 'skip';
  readonly label: string;
  constructor({ label, known }: { label: string; known: readonly string[] }) {
    const list = known.length > 0 ? `known are ${known.join(', ')}` : 'there are no routes';
    super(`No route has the label "${label}"; ${list}. Routes are listed in src/routes/index.ts`);
    this.label = label;
  }
}

/** A route that threw or asked for something impossible. The same response would do it again, so: no retry. */
export class RouteError extends CrawlError {
  override readonly name = 'RouteError';
  readonly code = 'ROUTE_FAILED';
  readonly recovery = 'skip';
  readonly label: string;
  constructor({ label, problem }: { label: string; problem: string }, options?: ErrorOptions) {
    super(`Route "${label}" ${problem}`, options);
    this.label = label;
  }
}
