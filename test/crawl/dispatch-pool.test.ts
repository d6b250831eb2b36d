import { Configuration } from '@crawlee/core';
import { beforeEach, describe, expect, test } from 'vitest';
import { DispatchPool } from '../../src/crawl/dispatch-pool.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';

let clock: FakeClock;
let waiting: number;
let isShort: boolean;
let isFinished: () => Promise<boolean>;
let ticks: number;
let pool: DispatchPool;

beforeEach(() => {
  clock = new FakeClock();
  waiting = 0;
  isShort = false;
  ticks = 0;
  isFinished = async () => waiting === 0;
  pool = poolOf(3);
});

function poolOf(maxConcurrency: number): DispatchPool {
  const unused = {
    runTaskFunction: async () => {},
    isTaskReadyFunction: async () => false,
    isFinishedFunction: async () => false,
  };
  return new DispatchPool(unused, new Configuration({ persistStorage: false }), {
    clock,
    maxConcurrency,
    startOne: () => {
      if (waiting === 0) return false;
      waiting -= 1;
      pool.begin();
      return true;
    },
    isFinished: () => isFinished(),
    onStart: () => {},
    onTick: () => {
      ticks += 1;
    },
    isShortOfMemory: () => isShort,
  });
}

/** A task ends: its slot is free, then it is over. */
function endOne(): void {
  pool.freeSlot();
  pool.pump();
  pool.end();
}

async function isDone(run: Promise<void>): Promise<boolean> {
  let done = false;
  void run.then(
    () => {
      done = true;
    },
    () => {
      done = true;
    },
  );
  await settle();
  return done;
}

describe('slots', () => {
  test('are all filled at once, and again as soon as one is free', async () => {
    waiting = 5;
    const run = pool.run();
    expect([pool.currentConcurrency, waiting]).toEqual([3, 2]);
    endOne();
    expect([pool.currentConcurrency, waiting]).toEqual([3, 1]);
    for (let ended = 0; ended < 4; ended++) endOne();
    expect(await isDone(run)).toBe(true);
  });

  test('are not held by tasks that wait for the store or another host, which count as running', async () => {
    waiting = 4;
    const run = pool.run();
    pool.freeSlot();
    pool.pump();
    expect([pool.currentConcurrency, pool.running, pool.waiting]).toEqual([3, 4, 1]);
    pool.takeSlot();
    expect([pool.currentConcurrency, pool.running, pool.waiting]).toEqual([4, 4, 0]);
    for (let ended = 0; ended < 4; ended++) endOne();
    expect(await isDone(run)).toBe(true);
  });

  test('follow maxConcurrency when it is changed', () => {
    waiting = 10;
    void pool.run();
    pool.maxConcurrency = 5;
    expect([pool.currentConcurrency, pool.desiredConcurrency]).toEqual([5, 5]);
    pool.maxConcurrency = 2;
    endOne();
    expect(pool.currentConcurrency).toBe(4);
  });

  test('stay free while memory is short, but for one', async () => {
    isShort = true;
    waiting = 3;
    const run = pool.run();
    expect(pool.currentConcurrency).toBe(1);
    endOne();
    expect([pool.currentConcurrency, waiting]).toEqual([1, 1]);
    isShort = false;
    await clock.advance(1_000);
    expect([pool.currentConcurrency, waiting, ticks]).toEqual([2, 0, 1]);
    endOne();
    endOne();
    expect(await isDone(run)).toBe(true);
  });
});

describe('the end', () => {
  test('is when nothing runs and all is finished, asked anew each second', async () => {
    let finished = false;
    isFinished = async () => finished;
    const run = pool.run();
    expect(await isDone(run)).toBe(false);
    finished = true;
    await clock.advance(1_000);
    expect(await isDone(run)).toBe(true);
    expect(pool.isActive).toBe(false);
  });

  test('does not come while a task still runs, though it holds no slot', async () => {
    waiting = 1;
    const run = pool.run();
    pool.freeSlot();
    pool.pump();
    await clock.advance(5_000);
    expect(await isDone(run)).toBe(false);
    pool.end();
    expect(await isDone(run)).toBe(true);
  });

  test('does not come when a task began while it was asked about', async () => {
    let answer = (_: boolean): void => {};
    isFinished = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const run = pool.run();
    waiting = 1;
    pool.pump();
    answer(true);
    expect(await isDone(run)).toBe(false);
    endOne();
    answer(true);
    expect(await isDone(run)).toBe(true);
  });

  test('is a rejection when a task or the question fails', async () => {
    waiting = 1;
    const run = pool.run();
    pool.fail(new Error('the store refuses'));
    await expect(run).rejects.toThrow('the store refuses');
    isFinished = () => Promise.reject(new Error('cannot tell'));
    pool = poolOf(1);
    await expect(pool.run()).rejects.toThrow('cannot tell');
  });

  test('is at once after abort, and the ticking ends with it', async () => {
    waiting = 5;
    const run = pool.run();
    await pool.abort();
    await run;
    expect([pool.running, waiting]).toEqual([3, 2]);
    await clock.advance(10_000);
    expect(ticks).toBe(0);
  });
});

describe('pause', () => {
  test('begins nothing new and waits for what runs; resume goes on', async () => {
    waiting = 5;
    void pool.run();
    let isPaused = false;
    const paused = pool.pause().then(() => {
      isPaused = true;
    });
    for (let ended = 0; ended < 3; ended++) {
      await settle();
      expect(isPaused).toBe(false);
      endOne();
    }
    await paused;
    expect([pool.currentConcurrency, waiting]).toEqual([0, 2]);
    pool.resume();
    expect([pool.currentConcurrency, waiting]).toEqual([2, 0]);
  });

  test('rejects when tasks do not end in time', async () => {
    waiting = 1;
    void pool.run();
    const paused = expect(pool.pause(2)).rejects.toThrow('did not finish in time');
    await clock.advance(2_000);
    await paused;
  });
});
