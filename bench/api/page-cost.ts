// What a declared resource costs a page: selecting, and all of extract. Run: node bench/api/page-cost.ts
import { mkdirSync, writeFileSync } from 'node:fs';
import { compile } from 'json-p3';
import { systemFiles } from '../../src/api/api-context.ts';
import { compileApi } from '../../src/api/compile-api.ts';
import { compileSelector } from '../../src/api/selector.ts';
import { apiSchema } from '../../src/config/api-schema.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import { runRoute } from '../../src/routes/run-route.ts';
import { machine, median } from '../common/machine.ts';

const ROUNDS = 7;
const RECORDS = 100;
const page = (from: number) => ({
  data: {
    items: Array.from({ length: RECORDS }, (_, at) => ({
      id: from + at,
      name: `Item ${at}`,
      price: at * 1.5,
      tags: ['a', 'b'],
    })),
  },
  total: 1_000_000,
});
const body = page(0);

type Case = { name: string; runs: number; act: (index: number) => unknown };

function selectors(): Case[] {
  return ['$.data.items[*]', '$.total', '$.data.items[?@.price > 50]', '$..id'].flatMap((path) => {
    const ours = compileSelector(path);
    const theirs = compile(path);
    return [
      { name: `${path} ours`, runs: 2_000, act: () => ours.all(body) },
      { name: `${path} json-p3`, runs: 2_000, act: () => theirs.query(body).values() },
    ];
  });
}

async function extracting(name: string, rest: object): Promise<Case> {
  const endpoint = {
    path: '/items',
    dataSelector: '$.data.items[*]',
    parallelPages: 'off',
    paginator: { type: 'offset', limit: RECORDS, totalPath: '$.total' },
  };
  const api = await compileApi(
    apiSchema.parse({ baseUrl: 'https://api.test', resources: [{ name: 'items', endpoint, ...rest }] }),
    {
      ...systemFiles('/', {}),
      importModule: async () => ({}),
      fetch: async () => ({ status: 500, headers: {}, body: '' }),
      clock: systemClock,
      log: silentLog,
      values: null,
      samplePages: null,
    },
  );
  const [route] = api.routes;
  const [seed] = api.firstRequests();
  const request = { url: seed!.url, method: 'GET', headers: {}, payload: null };
  const act = (index: number) =>
    runRoute(route!, { ...request, status: 200, headers: {}, body: page(index), userData: seed!.userData!, request });
  return { name, runs: 300, act };
}

const properties = { id: { type: 'integer' }, name: { type: 'string' }, price: { type: 'number' } };
const cases: Case[] = [
  ...selectors(),
  { name: 'making the page alone', runs: 300, act: page },
  await extracting('extract', {}),
  await extracting('extract, primaryKey', { primaryKey: 'id' }),
  await extracting('extract, primaryKey and schema', { primaryKey: 'id', schema: { type: 'object', properties } }),
];

function microseconds({ runs, act }: Case): number {
  const startedMs = performance.now();
  for (let index = 0; index < runs; index++) act(index);
  return ((performance.now() - startedMs) * 1000) / runs;
}

const times = new Map(cases.map((one) => [one.name, [] as number[]]));
for (let round = 0; round < ROUNDS; round++) for (const one of cases) times.get(one.name)!.push(microseconds(one));
const results = [...times].map(([name, list]) => ({ name, bestUs: Math.min(...list), medianUs: median(list) }));

const facts = machine();
const rows = results.map(
  ({ name, bestUs, medianUs }) => `| \`${name}\` | ${bestUs.toFixed(2)} | ${medianUs.toFixed(2)} |`,
);
const folder = new URL('../results/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(
  new URL('api-page-cost.json', folder),
  `${JSON.stringify({ machine: facts, rounds: ROUNDS, results }, null, 2)}\n`,
);
writeFileSync(
  new URL('api-page-cost.md', folder),
  [
    '# What a page of a declared resource costs',
    '',
    `A page of ${RECORDS} records, ${facts.date.slice(0, 10)}, ${facts.cores} x ${facts.cpu}, Node ${facts.node}, load ${facts.loadAtStart}.`,
    `\`node bench/api/page-cost.ts\`, ${ROUNDS} interleaved rounds, us a page.`,
    '',
    '| case | best, us | median, us |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n'),
);
process.stdout.write(`${rows.join('\n')}\n`);
