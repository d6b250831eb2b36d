import { fastifyRateLimit } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../core/clock.ts';
import { SECOND_MS } from '../core/units.ts';
import { ApiError } from './answers.ts';
import type { FaultPlan } from './faults.ts';
import { limiterWindow, type PracticeApiOptions } from './options.ts';
import type { ServedStats } from './stats.ts';

/** Counts what is served, as it is served: a client that has an answer finds it counted. */
export function countServed(app: FastifyInstance, stats: ServedStats): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!isControl(request)) {
      stats.begin();
      reply.raw.once('close', () => stats.end());
    }
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!isControl(request)) countAnswer(stats, request, reply.statusCode);
    done(null, payload);
  });
}

function countAnswer(stats: ServedStats, request: FastifyRequest, status: number): void {
  const path = request.routeOptions.url ?? 'unknown';
  stats.count(path, status);
  const isAnswered = status === 200 || status === 304;
  if (path === '/products/:id' && isAnswered) stats.countDetail(Number((request.params as { id: string }).id));
}

/** Limits by credential or address; a 429 comes at once, with Retry-After in whole seconds. */
export async function limitRate(app: FastifyInstance, options: PracticeApiOptions): Promise<void> {
  if (options.rateLimit === null) return;
  const style = options.rateLimitHeaders ?? 'none';
  const { max, windowMs } = limiterWindow(options.rateLimit, options.rateLimitWindowMs ?? SECOND_MS);
  const isStated = style !== 'none';
  await app.register(fastifyRateLimit, {
    max,
    timeWindow: windowMs,
    keyGenerator: spender,
    allowList: isControl,
    enableDraftSpec: style === 'draft',
    addHeaders: { ...stated(isStated), 'retry-after': true },
    addHeadersOnExceeding: stated(isStated),
    errorResponseBuilder: (_, { after }) =>
      new ApiError({ status: 429, code: 'rate_limited', message: `More than ${max} requests; try again in ${after}` }),
  });
}

function stated(isStated: boolean): Record<string, boolean> {
  const names = ['limit', 'remaining', 'reset'];
  return Object.fromEntries(
    names.flatMap((name) => [
      [`x-ratelimit-${name}`, isStated],
      [`ratelimit-${name}`, isStated],
    ]),
  );
}

function spender({ headers, ip }: FastifyRequest): string {
  return headers.authorization ?? String(headers['x-api-key'] ?? ip);
}

/** Holds every answer back for the latency, then lets those fail that the plan says. */
export function delayAndFail(app: FastifyInstance, { clock, latencyMs, faults }: Trouble): void {
  app.addHook('preHandler', async (request) => {
    if (isControl(request)) return;
    if (latencyMs > 0) await clock.sleep(latencyMs);
    // A robots.txt that fails would park the whole host, by RFC 9309: that is for tests that mean it.
    if (request.url === '/robots.txt') return;
    const fault = faults.next(identityOf(request));
    if (fault !== null) throw unavailable(fault.retryAfterSecs);
  });
}

type Trouble = { clock: Clock; latencyMs: number; faults: FaultPlan };

function identityOf({ method, url, body }: FastifyRequest): string {
  return `${method} ${url} ${body === undefined || body === null ? '' : JSON.stringify(body)}`;
}

function unavailable(retryAfterSecs: number | null): ApiError {
  const headers: Record<string, string> = retryAfterSecs === null ? {} : { 'retry-after': String(retryAfterSecs) };
  return new ApiError({ status: 503, code: 'unavailable', message: 'Out for a moment; ask again', headers });
}

/** `/__stats` and the like steer the server: they are never limited, delayed, failing or counted. */
function isControl({ url }: FastifyRequest): boolean {
  return url.startsWith('/__');
}
