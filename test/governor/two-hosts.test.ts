import { expect, test } from 'vitest';
import { TokenBucket } from '../../bench/zoo/limiters.ts';
import { governed } from './harness.ts';

const FREE = 'free.example.com';
const LIMITED = 'limited.example.com';

type Flying = { key: string; sentAtMs: number; endedAtMs: number; status: number };

/** Requests the free host answers in `secs`, beside a host that allows 5 a second, or alone. */
function answeredByFree(secs: number, keys: readonly string[]): number {
  const { time, ask, answer } = governed();
  const limiter = new TokenBucket(5, 5);
  const flying: Flying[] = [];
  let answered = 0;
  while (time.nowMs < secs * 1000) {
    const ready = keys.map((key) => ({ key, atMs: ask(key) }));
    for (const { key } of ready.filter(({ atMs }) => atMs === 0)) {
      const status = key === FREE || limiter.arrive(time.nowMs).accepted ? 200 : 429;
      flying.push({ key, sentAtMs: time.nowMs, endedAtMs: time.nowMs + 30, status });
    }
    if (ready.some(({ atMs }) => atMs === 0)) continue;
    const nextMs = Math.min(...ready.map(({ atMs }) => atMs), flying[0]?.endedAtMs ?? Number.POSITIVE_INFINITY);
    time.nowMs = nextMs;
    while (flying[0] !== undefined && flying[0].endedAtMs <= nextMs) {
      const { key, sentAtMs, status } = flying.shift()!;
      if (key === FREE) answered += 1;
      answer({ key, origin: `https://${key}`, sentAtMs, status });
    }
  }
  return answered;
}

test('a free host is as fast beside a limited one as alone', () => {
  expect(answeredByFree(10, [LIMITED, FREE])).toBe(answeredByFree(10, [FREE]));
});
