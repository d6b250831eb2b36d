import { expect, test } from 'vitest';
import { CommitLine } from '../../../src/storage/postgres/commit-line.ts';
import type { CommitResult, UnitOfWork } from '../../../src/storage/store.ts';
import { FakeClock, settle } from '../../fixtures/fake-clock.ts';

const unitOf = (requestId: number): UnitOfWork => ({
  lease: { requestId, token: 1 },
  outcome: { kind: 'handled', result: 'succeeded', reason: null, patch: null },
  records: [],
  requests: [],
  values: [],
  columns: [],
});

/** A line before a database that answers when told. */
function lineOf(gatherMs: number) {
  const clock = new FakeClock();
  const batches: { ids: number[]; answer: (error?: Error) => Promise<void> }[] = [];
  const commit = (units: readonly UnitOfWork[]): Promise<CommitResult[]> =>
    new Promise((resolve, reject) => {
      const ids = units.map(({ lease }) => lease.requestId);
      const results = ids.map((id): CommitResult => ({ status: 'committed', added: id }));
      const answer = (error?: Error): Promise<void> => {
        if (error) reject(error);
        else resolve(results);
        return settle();
      };
      batches.push({ ids, answer });
    });
  return { clock, batches, line: new CommitLine({ commit, clock, gatherMs }) };
}

test('what comes while a transaction is under way goes together in the next one, and each gets its own answer', async () => {
  const { line, batches } = lineOf(0);
  const answers = [1, 2, 3].map((id) => line.commit([unitOf(id)]));
  expect(batches.map(({ ids }) => ids)).toEqual([[1]]);
  await batches[0]!.answer();
  expect(batches.map(({ ids }) => ids)).toEqual([[1], [2, 3]]);
  await batches[1]!.answer();
  expect(await Promise.all(answers)).toEqual([1, 2, 3].map((added) => [{ status: 'committed', added }]));
});

test('a transaction takes a thousand units at most', async () => {
  const { line, batches } = lineOf(0);
  for (let i = 0; i < 5; i++) void line.commit(Array.from({ length: 400 }, (_, n) => unitOf(n)));
  await batches[0]!.answer();
  await batches[1]!.answer();
  expect(batches.map(({ ids }) => ids.length)).toEqual([400, 800, 800]);
});

test('where little comes the first waits for others, but not for more than is enough', async () => {
  const { line, batches, clock } = lineOf(100);
  void line.commit([unitOf(1)]);
  await clock.advance(249);
  void line.commit([unitOf(2)]);
  expect(batches).toEqual([]);
  await clock.advance(1);
  expect(batches.map(({ ids }) => ids)).toEqual([[1, 2]]);
  await batches[0]!.answer();
  void line.commit(Array.from({ length: 199 }, (_, n) => unitOf(n)));
  expect(batches).toHaveLength(1);
  void line.commit([unitOf(199)]);
  expect(batches[1]!.ids).toHaveLength(200);
});

test('what adds requests waits for less, and so does what came before it', async () => {
  const { line, batches, clock } = lineOf(100);
  const request = {
    uniqueKey: 'k',
    url: 'https://a.example/',
    host: 'a.example',
    method: 'GET',
    label: null,
    data: null,
  };
  const adding = (id: number): UnitOfWork => ({ ...unitOf(id), requests: [request] });
  void line.commit([unitOf(1)]);
  await clock.advance(50);
  void line.commit([adding(2)]);
  await clock.advance(99);
  expect(batches).toEqual([]);
  await clock.advance(1);
  expect(batches.map(({ ids }) => ids)).toEqual([[1, 2]]);
  await batches[0]!.answer();
  void line.commit([unitOf(3)]);
  await clock.advance(249);
  expect(batches).toHaveLength(1);
  await clock.advance(1);
  await batches[1]!.answer();
  void line.commit(Array.from({ length: 64 }, (_, n) => adding(n)));
  expect(batches[2]!.ids).toHaveLength(64);
});

test('a refusal is told to those it concerns, and the line goes on', async () => {
  const { line, batches } = lineOf(0);
  const first = line.commit([unitOf(1)]);
  const second = line.commit([unitOf(2)]);
  first.catch(() => {});
  await batches[0]!.answer(new Error('disk full'));
  await batches[1]!.answer();
  await expect(first).rejects.toThrow('disk full');
  expect(await second).toEqual([{ status: 'committed', added: 2 }]);
});
