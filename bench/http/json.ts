import { parseExact, stringifyExact } from '../../src/core/exact-json.ts';
import { parseJsonBody } from '../../src/http/bodies.ts';
import { scanJson } from '../../src/http/json-scan.ts';

type JsonRow = { name: string; micros: number };

const FACTS = { status: 200, url: 'http://bench.test/' };
const ROUNDS = 5;

function item(id: number): object {
  return {
    ...{ id, name: `Product number ${id}`, price: 12.5 + id, tags: ['red', 'blue'], created: '2026-01-02T03:04:05Z' },
    ...{ stock: { a: id, b: null, c: true }, description: 'Lorem ipsum dolor sit amet, consectetur. '.repeat(3) },
  };
}

/** What the parts of reading and writing JSON cost, best of some rounds. */
export function measureJson(): { rows: JsonRow[]; table: string } {
  const text = JSON.stringify([1, 2, 3].map(item));
  const body = Buffer.from(text);
  const withBigInt = Buffer.from(text.replace('"id":1,', '"id":12345678901234567890,'));
  const value: unknown = JSON.parse(text);
  const valueWithBigInt = parseExact(withBigInt.toString());
  const cases: [string, () => unknown][] = [
    [`body.toString() and JSON.parse, ${body.length} bytes`, () => JSON.parse(body.toString())],
    ['the scan for inexact numbers and depth', () => scanJson(body)],
    ['parseJsonBody', () => parseJsonBody(body, {}, FACTS)],
    ['parseJsonBody, one integer beyond 2^53', () => parseJsonBody(withBigInt, {}, FACTS)],
    ['JSON.stringify', () => JSON.stringify(value)],
    ['stringifyExact', () => stringifyExact(value)],
    ['stringifyExact, one BigInt', () => stringifyExact(valueWithBigInt)],
  ];
  const rows = cases.map(([name, action]) => ({ name, micros: bestMicros(action) }));
  const lines = rows.map(({ name, micros }) => `| ${name} | ${micros.toFixed(2)} |`);
  return { rows, table: ['| | µs |', '|---|---|', ...lines].join('\n') };
}

function bestMicros(action: () => unknown, times = 20_000): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedMs = performance.now();
    for (let count = 0; count < times; count += 1) action();
    best = Math.min(best, ((performance.now() - startedMs) * 1_000) / times);
  }
  return best;
}
