// Our HTTP client beside bare undici: HTTP/1.1 on loopback as fast as it goes, HTTP/2 at 50 ms with 100 in flight, and
// what reading JSON exactly costs. Interleaved rounds; a benchmark of some 40 s.
// node bench/http/run.ts [requests] [rounds]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { machine, median } from '../common/machine.ts';
import { measureJson } from './json.ts';
import { bareDispatch, bareRequest, millrace, millraceExact, type Peer, type PeerOptions } from './peers.ts';

const REQUESTS = Number(process.argv[2] ?? 6_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const CONCURRENCY = 50;
const HTTP2_IN_FLIGHT = 100;
const HTTP2_REQUESTS = 2_000;
const HTTP2_ROUNDS = 3;

type Round = { requestsPerSec: number; cpuMicros: number };
type Row = { name: string; rounds: Round[] };

async function load(peer: Peer, { requests, inFlight }: { requests: number; inFlight: number }): Promise<Round> {
  let left = requests;
  const startedCpu = process.cpuUsage();
  const startedMs = performance.now();
  const work = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await peer.fetch(`/items/${left}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(startedCpu);
  return { requestsPerSec: (requests / tookMs) * 1_000, cpuMicros: (user + system) / requests };
}

/** Rounds of all peers in turn; the first round warms up and does not count. */
async function compare(
  makers: readonly ((options: PeerOptions) => Peer)[],
  options: PeerOptions & { requests: number; inFlight: number; rounds: number },
): Promise<Row[]> {
  const peers = makers.map((make) => make(options));
  const rows: Row[] = peers.map(({ name }) => ({ name, rounds: [] }));
  for (let round = 0; round <= options.rounds; round += 1) {
    for (const [index, peer] of peers.entries()) {
      const measured = await load(peer, options);
      if (round > 0) rows[index]!.rounds.push(measured);
    }
  }
  await Promise.all(peers.map((peer) => peer.close()));
  return rows;
}

function table(rows: readonly Row[], reference: string): string {
  const rateOf = (row: Row): number => median(row.rounds.map(({ requestsPerSec }) => requestsPerSec));
  const base = rateOf(rows.find(({ name }) => name.includes(reference))!);
  const lines = rows.map((row) => {
    const rate = rateOf(row);
    const cpu = median(row.rounds.map(({ cpuMicros }) => cpuMicros));
    const rounds = row.rounds.map(({ requestsPerSec }) => Math.round(requestsPerSec)).join(' ');
    return `| ${row.name} | ${Math.round(rate)} | ${(rate / base).toFixed(2)} | ${cpu.toFixed(1)} | ${rounds} |`;
  });
  return [
    '| | Requests/s, median | Share | CPU µs a request, median | Rounds |',
    '|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

const server = fork(new URL('./server.ts', import.meta.url));
try {
  const [{ plain, http2, ca }] = (await once(server, 'message')) as [{ plain: number; http2: number; ca: string }];
  const http1Rows = await compare([bareRequest, bareDispatch, millrace, millraceExact], {
    ...{ origin: `http://127.0.0.1:${plain}`, ca, connections: CONCURRENCY },
    ...{ requests: REQUESTS, inFlight: CONCURRENCY, rounds: ROUNDS },
  });
  const http2Rows = await compare([bareDispatch, millrace], {
    ...{ origin: `https://localhost:${http2}`, ca, connections: 2 },
    ...{ requests: HTTP2_REQUESTS, inFlight: HTTP2_IN_FLIGHT, rounds: HTTP2_ROUNDS },
  });
  const json = measureJson();
  const facts = machine();
  const { cores, cpu, node, undici, date, loadAtStart } = facts;
  const text = `# The HTTP client beside bare undici

${cores} x ${cpu}, Node ${node}, undici ${undici}, ${date.slice(0, 10)}, load ${loadAtStart}. \`node bench/http/run.ts ${REQUESTS} ${ROUNDS}\`

1 KB of JSON, server in a process of its own on the same machine, rounds interleaved, the first one not counted. CPU is
of the client's process.

## HTTP/1.1, loopback, ${CONCURRENCY} in flight

${table(http1Rows, 'dispatch')}

## HTTP/2 over TLS, 50 ms latency, ${HTTP2_IN_FLIGHT} in flight (theoretical ${HTTP2_IN_FLIGHT * 20} requests/s)

${table(http2Rows, 'dispatch')}

## Reading JSON exactly

${json.table}
`;
  writeFileSync(new URL('../results/http.md', import.meta.url), text);
  writeFileSync(
    new URL('../results/http.json', import.meta.url),
    `${JSON.stringify({ ...facts, http1: http1Rows, http2: http2Rows, json: json.rows }, null, 2)}\n`,
  );
  console.log(text);
} finally {
  server.kill();
}
