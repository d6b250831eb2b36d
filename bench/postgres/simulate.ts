// How many requests/s one PostgreSQL carries, from what a request costs it: workers that claim and commit in batches, a
// database with some cores and a disk that syncs, as a queue. Figures are those measured by claim-commit.ts.
// node bench/postgres/simulate.ts
const COSTS = {
  /** PostgreSQL's CPU for one request's claim and commit, us, and what each batch costs besides. */
  cpuUsARequest: 60,
  cpuMsABatch: 4.3,
  /** CPU of a worker's exchange of limits and its other polls, ms/s. */
  pollsMsASecond: 25,
  /** One flush of the log, ms: an SSD in the data centre. */
  syncMs: 1,
};
const BATCHES = [10, 50, 100, 200, 500];
const CORES = [4, 8, 16, 32];
// Beyond it batches wait for one another.
const MOST_UTILISED = 0.7;
/** A second. */
const REQUESTS_A_WORKER = 1_000;
const SECONDS = 20;

type Load = { requestsPerSecond: number; batch: number; cores: number; workers: number };

/** Plays batches that come at random times and are served by `cores`. @returns how long one takes, 95 of 100 of them */
function p95Ms({ requestsPerSecond, batch, cores, workers }: Load): number {
  const perSecond = requestsPerSecond / batch;
  const serviceMs = COSTS.cpuMsABatch + (batch * COSTS.cpuUsARequest) / 1000;
  const ownCores = cores - (workers * COSTS.pollsMsASecond) / 1000;
  if (ownCores <= 0) return Number.POSITIVE_INFINITY;
  const freeAtMs = Array.from({ length: Math.max(1, Math.floor(ownCores)) }, () => 0);
  const tookMs: number[] = [];
  const random = seeded(42);
  for (let atMs = 0; atMs < SECONDS * 1000; atMs += (-Math.log(1 - random()) * 1000) / perSecond) {
    const core = freeAtMs.indexOf(Math.min(...freeAtMs));
    const startMs = Math.max(atMs, freeAtMs[core]!);
    freeAtMs[core] = startMs + serviceMs;
    tookMs.push(startMs + serviceMs + COSTS.syncMs - atMs);
  }
  tookMs.sort((a, b) => a - b);
  return tookMs[Math.floor(tookMs.length * 0.95)] ?? 0;
}

function carried(batch: number, cores: number): number {
  const pollsMs = COSTS.pollsMsASecond / REQUESTS_A_WORKER;
  const cpuMs = (COSTS.cpuMsABatch + (batch * COSTS.cpuUsARequest) / 1000) / batch + pollsMs;
  return (MOST_UTILISED * cores * 1000) / cpuMs;
}

/** Mulberry32: the same figures every time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const rounded = (value: number): string => Math.round(value).toLocaleString('en-US');
const lines = [
  `| batch | ${CORES.map((cores) => `${cores} cores`).join(' | ')} |`,
  `|---|${CORES.map(() => '---:|').join('')}`,
  ...BATCHES.map((batch) => {
    const cells = CORES.map((cores) => {
      const requestsPerSecond = carried(batch, cores);
      const workers = Math.ceil(requestsPerSecond / REQUESTS_A_WORKER);
      return `${rounded(requestsPerSecond)} (${rounded(p95Ms({ requestsPerSecond, batch, cores, workers }))} ms)`;
    });
    return `| ${batch} | ${cells.join(' | ')} |`;
  }),
];
process.stdout.write(
  `requests/s at ${MOST_UTILISED * 100} % of the cores, and how long a batch then takes (p95)\n\n${lines.join('\n')}\n`,
);
