import { describe, expect, test } from 'vitest';
import { KEY } from '../harness.ts';
import { PlayedWorkers } from './play-workers.ts';

const LIMIT = { requestsPerSecond: 200, burst: 10 };

describe('workers that share a configured limit', () => {
  const configured = () => new PlayedWorkers({ server: null, hosts: { requestsPerSecond: 200 } });

  test('stay within it in every second and use nearly all of it, with equal parts', () => {
    const play = configured();
    play.add(4);
    play.run(30_000);
    expect(play.mostWithin(1_000)).toBeLessThanOrEqual(200);
    expect(play.goodput(5_000, 30_000)).toBeGreaterThan(185);
    const sent = play.workers.map(({ id }) => play.sentBy(id, 5_000));
    expect(Math.max(...sent) - Math.min(...sent)).toBeLessThanOrEqual(5);
  });

  test('never have more granted than there is, whoever comes', () => {
    const play = configured();
    for (let i = 0; i < 6; i++) {
      play.add();
      for (let step = 0; step < 40; step++) {
        play.run(25);
        expect(play.grantedNow()).toBeLessThanOrEqual(200 + 1e-9);
      }
    }
    expect(play.mostWithin(1_000)).toBeLessThanOrEqual(200);
  });

  test('take over the part of one that was killed, once its lease has ended', () => {
    const play = configured();
    play.add(4);
    play.run(10_000);
    play.workers[2]!.isAlive = false;
    play.run(10_000);
    expect(play.mostWithin(1_000)).toBeLessThanOrEqual(200);
    expect(play.goodput(14_000, 20_000)).toBeGreaterThan(185);
  });

  test('leave to the others what one does not need', () => {
    const play = configured();
    play.add(2);
    play.workers[0]!.left = 300;
    play.run(10_000);
    expect(play.goodput(6_000, 10_000)).toBeGreaterThan(185);
    expect(play.sentBy(2, 6_000)).toBeGreaterThan(740);
  });

  test('send nothing beyond their last grant while they hear nothing of the others', () => {
    const play = configured();
    const worker = play.add();
    play.run(1_000);
    const { nowMs } = play;
    expect(worker.governor.tryAcquire(KEY, nowMs + 5_000)).toBe(nowMs + 5_050);
  });

  test('hold a ceiling over all hosts together', () => {
    const play = new PlayedWorkers({ server: null, maxRequestsPerMinute: 6_000 });
    play.add(4);
    play.run(20_000);
    expect(play.mostWithin(1_000)).toBeLessThanOrEqual(100);
    expect(play.goodput(5_000, 20_000)).toBeGreaterThan(88);
  });

  test('let one of them keep a delay between two requests', () => {
    const play = new PlayedWorkers({ server: null, hosts: { minDelayMs: 100 } });
    play.add(3);
    play.run(10_000);
    const times = play.arrivals.map(({ atMs }) => atMs);
    const gaps = times.slice(1).map((atMs, i) => atMs - times[i]!);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(100);
    expect(times.length).toBeGreaterThan(88);
  });

  test('share the slots of a host', () => {
    const play = new PlayedWorkers({ server: null, latencyMs: 1_000, hosts: { maxConcurrency: 20, discovery: 'off' } });
    play.add(4);
    play.run(6_000);
    expect(play.mostWithin(1_000, 3_000)).toBeLessThanOrEqual(20);
    expect(play.goodput(3_000, 6_000)).toBeGreaterThan(19);
  });
});

describe('workers that share a limit which nobody states', () => {
  test('find it together, hold below it, and meet few refusals', () => {
    const play = new PlayedWorkers({ server: LIMIT });
    play.add(4);
    play.run(60_000);
    expect(play.goodput(10_000, 60_000)).toBeGreaterThan(0.76 * 200);
    expect(play.arrivals.filter(({ isRefused }) => isRefused).length).toBeLessThan(60);
    const sent = play.workers.map(({ id }) => play.sentBy(id, 20_000));
    expect(Math.max(...sent) / Math.min(...sent)).toBeLessThan(1.1);
  });

  test('go on at it when the one they went by is killed', () => {
    const play = new PlayedWorkers({ server: LIMIT });
    play.add(4);
    play.run(30_000);
    const refusedBefore = play.arrivals.filter(({ isRefused }) => isRefused).length;
    play.workers[0]!.isAlive = false;
    play.run(30_000);
    expect(play.goodput(35_000, 60_000)).toBeGreaterThan(0.76 * 200);
    const refused = play.arrivals.filter(({ isRefused }) => isRefused).length - refusedBefore;
    expect(refused).toBeLessThan(30);
  });

  test('tell a newcomer what they have found', () => {
    const play = new PlayedWorkers({ server: LIMIT });
    play.add(2);
    play.run(30_000);
    const before = play.arrivals.length;
    play.add();
    play.run(20_000);
    expect(play.arrivals.slice(before).filter(({ isRefused }) => isRefused).length).toBeLessThan(20);
    expect(play.sentBy(3, 40_000)).toBeGreaterThan(400);
  });

  test('all wait within half a second when one is told to', () => {
    const play = new PlayedWorkers({ server: { requestsPerSecond: 1, burst: 2_000 }, hosts: { discovery: 'off' } });
    play.add(4);
    play.run(20_000);
    const firstMs = play.arrivals.find(({ isRefused }) => isRefused)!.atMs;
    const late = play.arrivals.filter(({ atMs }) => atMs > firstMs + 500 && atMs < firstMs + 1_000);
    expect(late).toEqual([]);
  });
});

test('workers have budgets of their own where the server counts by address', () => {
  const play = new PlayedWorkers({ server: null, hosts: { requestsPerSecond: 50, limitScope: 'address' } });
  play.add(3);
  play.run(10_000);
  expect(play.goodput(2_000, 10_000)).toBeGreaterThan(3 * 46);
});
