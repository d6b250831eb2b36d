import { beforeEach, expect, test } from 'vitest';
import { Committer } from '../../src/queue/committer.ts';
import type { CommitResult, QueueStore, UnitOfWork } from '../../src/storage/store.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';
import { leased } from './leased.ts';

const COMMITTED: CommitResult = { status: 'committed', added: 0 };

let clock: FakeClock;
let batches: (readonly UnitOfWork[])[];
let answer: (units: readonly UnitOfWork[]) => Promise<CommitResult[]>;
let told: number[];
let committer: Committer;

beforeEach(() => {
  clock = new FakeClock();
  batches = [];
  told = [];
  answer = async (units) => units.map(() => COMMITTED);
  const store = {
    commit: (units: readonly UnitOfWork[]) => {
      batches.push(units);
      return answer(units);
    },
  } as unknown as QueueStore;
  committer = new Committer({ store, clock, onCommitted: (units) => told.push(units.length) });
});

function unit(): UnitOfWork {
  const outcome = { kind: 'handled', result: 'succeeded', reason: null, patch: null } as const;
  return { lease: leased('a.test').lease, outcome, records: [], requests: [], values: [], columns: [] };
}

test('commits what comes within 5 ms together, in order', async () => {
  const units = [unit(), unit(), unit()];
  const results = units.map((one) => committer.submit(one, false));
  expect(committer.backlog).toBe(3);
  await clock.advance(4);
  expect(batches).toEqual([]);
  await clock.advance(1);
  expect(batches).toEqual([units]);
  expect(await Promise.all(results)).toEqual([COMMITTED, COMMITTED, COMMITTED]);
  expect([told, committer.backlog]).toEqual([[3], 0]);
});

test('commits 128 at once, without waiting', async () => {
  for (let count = 0; count < 130; count++) void committer.submit(unit(), false);
  await settle();
  expect(batches.map((batch) => batch.length)).toEqual([128]);
  await clock.advance(5);
  expect(batches.map((batch) => batch.length)).toEqual([128, 2]);
});

test('commits at once what the crawl waits for, with all that came before it', async () => {
  const units = [unit(), unit(), unit()];
  void committer.submit(units[0]!, false);
  void committer.submit(units[1]!, true);
  void committer.submit(units[2]!, false);
  await clock.advance(0);
  expect(batches).toEqual([units]);
  void committer.submit(unit(), false);
  await clock.advance(4);
  expect(batches).toHaveLength(1);
  await clock.advance(1);
  expect(batches).toHaveLength(2);
});

test('tells each unit its own result', async () => {
  answer = async () => [COMMITTED, { status: 'lost', added: 0 }];
  const results = [committer.submit(unit(), false), committer.submit(unit(), false)];
  await clock.advance(5);
  expect((await Promise.all(results)).map(({ status }) => status)).toEqual(['committed', 'lost']);
});

test('tells all of a batch when the store refuses, and goes on with the next', async () => {
  answer = () => Promise.reject(new Error('disk full'));
  const results = [committer.submit(unit(), false), committer.submit(unit(), false)].map((result) =>
    result.catch(String),
  );
  await clock.advance(5);
  expect(await Promise.all(results)).toEqual(['Error: disk full', 'Error: disk full']);
  expect([committer.backlog, told]).toEqual([0, []]);
  answer = async () => [COMMITTED];
  const next = committer.submit(unit(), false);
  await clock.advance(5);
  expect(await next).toEqual(COMMITTED);
});

test('drains what waits and what is under way', async () => {
  let commit = (): void => {};
  answer = (units) =>
    new Promise((resolve) => {
      commit = () => resolve(units.map(() => COMMITTED));
    });
  void committer.submit(unit(), false);
  let isDrained = false;
  const drained = committer.drain().then(() => {
    isDrained = true;
  });
  await settle();
  expect(batches).toHaveLength(1);
  void committer.submit(unit(), false);
  commit();
  await settle();
  expect(isDrained).toBe(false);
  commit();
  await drained;
  expect([batches.length, committer.backlog]).toEqual([2, 0]);
});

test('has nothing to drain at first', async () => {
  await committer.drain();
  expect(batches).toEqual([]);
});
