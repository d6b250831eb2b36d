import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { systemClock } from '../core/clock.ts';
import { EnvironmentError, messageOf } from '../core/errors.ts';
import { addAccess } from './access.ts';
import { ApiError, errorBody } from './answers.ts';
import { countServed, delayAndFail, limitRate } from './behaviour.ts';
import { Catalogue } from './catalogue.ts';
import { FaultPlan } from './faults.ts';
import { addFrontPage } from './front-page.ts';
import { addGraphql } from './graphql.ts';
import type { PracticeApiOptions } from './options.ts';
import { addProductDetails } from './product-details.ts';
import { addProductLists } from './product-lists.ts';
import { ServedStats } from './stats.ts';
import { addTokenEndpoint, TokenOffice } from './token-office.ts';
import type { PracticeStats } from './types.ts';

/** A practice API that listens. */
export type PracticeApi = {
  /** Base URL without a slash at its end: "http://127.0.0.1:4321". */
  url: string;
  /** What it has served so far. */
  stats(): PracticeStats;
  /** Changes these products: new version, price and `updatedAt`. Unknown ids are ignored. */
  touch(ids: readonly number[]): void;
  /** Ends open connections and stops listening. Idempotent. */
  close(): Promise<void>;
};

const DEFAULT_TOKEN_LIFETIME_SECS = 60;

/**
 * Starts a realistic JSON API with products and reviews, in every style of pagination and authentication, with
 * settable latency, failures and rate limit.
 * @throws EnvironmentError when it cannot listen there; the message says what to do
 */
export async function startPracticeApi(options: PracticeApiOptions): Promise<PracticeApi> {
  const clock = options.clock ?? systemClock;
  const catalogue = new Catalogue(options);
  const stats = new ServedStats(options.items);
  const tokens = new TokenOffice({ clock, lifetimeSecs: options.tokenLifetimeSecs ?? DEFAULT_TOKEN_LIFETIME_SECS });
  const touch = (ids: readonly number[]): void => {
    for (const id of ids) if (catalogue.has(id)) catalogue.touch(id, clock.wallMs());
  };

  const app = createApp();
  countServed(app, stats);
  await limitRate(app, options);
  delayAndFail(app, { clock, latencyMs: options.latencyMs, faults: new FaultPlan(options) });
  addFrontPage(app);
  addProductLists(app, catalogue);
  addProductDetails(app, catalogue);
  addAccess(app, catalogue, tokens);
  addTokenEndpoint(app, tokens);
  addGraphql(app, catalogue);
  addControls(app, { stats, touch });

  return { url: await listen(app, options), stats: () => stats.snapshot(), touch, close: () => app.close() };
}

function createApp(): FastifyInstance {
  const app = fastify({ logger: false, forceCloseConnections: true });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  app.setErrorHandler(answerError);
  app.setNotFoundHandler((request, reply) =>
    reply.code(404).send(errorBody('not_found', `There is nothing at ${request.url}; GET / lists what there is`)),
  );
  return app;
}

function answerError(error: unknown, _: unknown, reply: FastifyReply): FastifyReply {
  if (error instanceof ApiError)
    return reply.code(error.status).headers(error.headers).send(errorBody(error.code, error.message));
  // Fastify's own refusals (a body that is no JSON, say) carry their status.
  const status = (error as { statusCode?: number }).statusCode ?? 500;
  return reply.code(status).send(errorBody(status < 500 ? 'bad_request' : 'internal', messageOf(error)));
}

type Controls = { stats: ServedStats; touch: (ids: readonly number[]) => void };

function addControls(app: FastifyInstance, { stats, touch }: Controls): void {
  app.get('/__stats', () => stats.snapshot());
  app.post<{ Body: { ids?: number[] } | null }>('/__touch', (request) => {
    const ids = request.body?.ids ?? [];
    touch(ids);
    return { touched: ids.length };
  });
}

async function listen(app: FastifyInstance, { port, host = '127.0.0.1' }: PracticeApiOptions): Promise<string> {
  try {
    return await app.listen({ port, host });
  } catch (error) {
    await app.close();
    throw new EnvironmentError(explainListenError(error, `${host}:${port}`), { cause: error });
  }
}

function explainListenError(error: unknown, address: string): string {
  const code = (error as NodeJS.ErrnoException).code;
  const advice = '--port 0 takes any free one';
  if (code === 'EADDRINUSE') return `${address} is in use: stop what listens there, or give another port (${advice})`;
  if (code === 'EACCES') return `Not allowed to listen on ${address}: give a port above 1023 (${advice})`;
  if (code === 'EADDRNOTAVAIL') return `${address} is no address of this machine: 127.0.0.1 is, and 0.0.0.0 means all`;
  return `The practice API cannot listen on ${address}: ${messageOf(error)}`;
}
