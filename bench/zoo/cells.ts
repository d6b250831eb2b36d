import type { AnswerStyle, HeaderStyle } from './answer.ts';
import {
  Adaptive,
  ConcurrencyLimit,
  FixedWindow,
  LeakyDelay,
  type Limiter,
  NoLimit,
  SlidingLog,
  TokenBucket,
} from './limiters.ts';

export type LimiterKind =
  | 'token bucket'
  | 'fixed window 1 s'
  | 'fixed window 10 s'
  | 'sliding log'
  | 'concurrency 10'
  | 'leaky bucket'
  | 'adaptive'
  | 'no limit';

/** One case of the zoo. */
export type Cell = AnswerStyle & {
  name: string;
  limiter: LimiterKind;
  /** Requests per second; of no meaning to a concurrency limit. */
  rate: number;
  burst?: number;
  latencyMs: number;
  /** Latencies lie within so much of the mean, as a share of it. */
  jitter: number;
  /** From `atMs` on the limit is `share` of the nominal one. */
  changes?: { atMs: number; share: number }[];
  /** Another client takes so many requests per second of the same limit. */
  otherClientRps?: number;
  /** Another server than ours, on real sockets only. */
  server?: 'nginx' | 'nginx nodelay' | 'fastify';
  /** The answer to every so many-th request never comes. */
  hangsEvery?: number;
  /** Of the requests so many fail with 503, whatever the load, as a share. */
  faultShare?: number;
};

export function makeLimiter(cell: Pick<Cell, 'limiter' | 'rate' | 'burst'>): Limiter {
  const { rate } = cell;
  const burst = cell.burst ?? 20;
  if (cell.limiter === 'token bucket') return new TokenBucket(rate, burst);
  if (cell.limiter === 'fixed window 1 s') return new FixedWindow(rate, 1000);
  if (cell.limiter === 'fixed window 10 s') return new FixedWindow(rate * 10, 10_000);
  if (cell.limiter === 'sliding log') return new SlidingLog(rate, 1000);
  if (cell.limiter === 'concurrency 10') return new ConcurrencyLimit(10);
  if (cell.limiter === 'leaky bucket') return new LeakyDelay(rate, Math.max(100, rate / 2));
  if (cell.limiter === 'adaptive') return new Adaptive(rate, burst);
  return new NoLimit();
}

const RATED: LimiterKind[] = [
  'token bucket',
  'fixed window 1 s',
  'fixed window 10 s',
  'sliding log',
  'leaky bucket',
  'adaptive',
];
const RATES = [20, 100, 1000];

function cell(limiter: LimiterKind, rate: number, extra: Partial<Cell> = {}): Cell {
  const headers: HeaderStyle = extra.headers ?? 'retry-after';
  const status = extra.refusalStatus ?? 429;
  const rateText = limiter === 'concurrency 10' || limiter === 'no limit' ? '' : ` ${rate}/s`;
  const burstText = extra.burst === undefined ? '' : ` burst ${extra.burst}`;
  const latencyText = extra.latencyMs === undefined ? '' : ` ${extra.latencyMs} ms`;
  const suffix = extra.name === undefined ? '' : `, ${extra.name}`;
  const name = `${limiter}${rateText}${burstText}${latencyText}, ${status} ${headers}${suffix}`;
  return { limiter, rate, latencyMs: 30, jitter: 0.1, ...extra, name, headers, refusalStatus: status };
}

/** All cases: each limiter at each rate, stated, told by Retry-After only, and silent; then the special ones. */
export function allCells(): Cell[] {
  const styles: Partial<Cell>[] = [
    { headers: 'ietf' },
    { headers: 'x-ratelimit' },
    { headers: 'retry-after' },
    { headers: 'none' },
    { headers: 'none', refusalStatus: 503 },
  ];
  const rated = RATED.flatMap((limiter) => RATES.flatMap((rate) => styles.map((style) => cell(limiter, rate, style))));
  return [...rated, ...specialCells()];
}

function specialCells(): Cell[] {
  const tiny = [1, 2, 5, 10].flatMap((burst) =>
    [20, 100].flatMap((rate) =>
      (['retry-after', 'none'] as const).map((headers) => cell('token bucket', rate, { burst, headers })),
    ),
  );
  const slow = RATED.flatMap((limiter) =>
    [20, 100].map((rate) => cell(limiter, rate, { latencyMs: 300, jitter: 0.5, headers: 'none' })),
  );
  const halved = [
    { atMs: 60_000, share: 0.5 },
    { atMs: 120_000, share: 1 },
  ];
  return [
    cell('concurrency 10', 100, { headers: 'retry-after' }),
    cell('concurrency 10', 100, { headers: 'none' }),
    cell('concurrency 10', 100, { headers: 'none', refusalStatus: 503 }),
    cell('concurrency 10', 100, { headers: 'none', latencyMs: 300, jitter: 0.5 }),
    cell('sliding log', 100, { headers: 'http-date' }),
    cell('no limit', 0),
    cell('no limit', 0, { latencyMs: 300, jitter: 0.5 }),
    ...tiny,
    ...slow,
    ...[20, 100, 1000].map((rate) =>
      cell('token bucket', rate, { headers: 'none', changes: halved, name: 'halved and restored' }),
    ),
    ...[20, 100, 1000].map((rate) =>
      cell('token bucket', rate, { headers: 'none', otherClientRps: rate / 2, name: 'half eaten by another client' }),
    ),
    cell('token bucket', 1000, { headers: 'none', burst: 200 }),
    cell('adaptive', 1000, { headers: 'none', burst: 200 }),
    cell('token bucket', 100, { headers: 'none', hangsEvery: 97, name: 'answers that hang' }),
    ...[0.002, 0.01, 0.03].flatMap((faultShare) => {
      const name = `${faultShare * 100} % fail with 503`;
      return [
        cell('no limit', 0, { headers: 'none', faultShare, name }),
        cell('token bucket', 100, { headers: 'none', faultShare, name }),
        cell('token bucket', 100, { headers: 'none', refusalStatus: 503, faultShare, name }),
      ];
    }),
  ];
}

/** Limiters nobody here wrote. nginx holds a burst back, or lets it through (nodelay), before it refuses. */
function foreignCells(): Cell[] {
  const servers = [
    { server: 'nginx', limiter: 'leaky bucket', headers: 'none', refusalStatus: 503 },
    { server: 'nginx', limiter: 'leaky bucket', headers: 'none', refusalStatus: 429 },
    { server: 'nginx nodelay', limiter: 'token bucket', headers: 'none', refusalStatus: 503 },
    { server: 'fastify', limiter: 'fixed window 1 s', headers: 'ietf', refusalStatus: 429 },
    { server: 'fastify', limiter: 'fixed window 1 s', headers: 'x-ratelimit', refusalStatus: 429 },
    { server: 'fastify', limiter: 'fixed window 1 s', headers: 'none', refusalStatus: 429 },
  ] as const;
  return servers.flatMap((one) => [20, 100, 1000].map((rate) => cell(one.limiter, rate, { ...one, name: one.server })));
}

const COMPARED: LimiterKind[] = ['token bucket', 'fixed window 1 s', 'sliding log', 'leaky bucket', 'adaptive'];

type ZooJob = { cell: Cell; strategy: 'millrace' | 'aimd' | 'aws-adaptive' | 'fixed' };

/** What runs on real sockets. At 1,000/s only stated and silent limits: the rest is left to the simulator. */
export function zooCells(): ZooJob[] {
  const own = allCells().filter(
    ({ rate, headers, refusalStatus }) =>
      rate < 1000 || (refusalStatus === 429 && (headers === 'ietf' || headers === 'none')),
  );
  const compared = own.filter(
    ({ limiter, rate, headers, latencyMs, burst, changes, otherClientRps, hangsEvery }) =>
      (COMPARED.includes(limiter) || limiter === 'concurrency 10') &&
      rate === 100 &&
      headers === 'retry-after' &&
      latencyMs === 30 &&
      !burst &&
      !changes &&
      !otherClientRps &&
      !hangsEvery,
  );
  const others = (['aimd', 'aws-adaptive', 'fixed'] as const).flatMap((strategy) =>
    compared.map((one) => ({ cell: one, strategy })),
  );
  return [...[...own, ...foreignCells()].map((one) => ({ cell: one, strategy: 'millrace' as const })), ...others];
}
