import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Summary } from '../../src/core/summary.ts';
import { whyNoNamespaces } from '../fixtures/namespaces.ts';
import { CutNetwork } from './postgres/cut-network.ts';
import { requestsOf } from './postgres/task.ts';

const reason = whyNoNamespaces();
let network: CutNetwork;

describe.skipIf(reason !== null)(`a worker whose network is cut${reason === null ? '' : ` (${reason})`}`, () => {
  beforeEach(() => {
    network = CutNetwork.open();
  });
  afterEach(() => network.remove());

  test('writes nothing, when the network is back, of what another has taken over', async () => {
    const { held, other, cut, urls, counts } = await network.play('fenced');
    expect(held).toBe(25);
    expect(other).toEqual({ committed: 60, lost: 0, added: 0 });
    expect(cut).toEqual({ committed: 0, lost: 25, added: 0 });
    expectEachOnce(urls, 60);
    expect(counts).toEqual({ total: 60, succeeded: 60, failed: 0, skipped: 0, pending: 0 });
  });

  test('goes on with what is left when the network is back', async () => {
    const { other, cut, urls, counts } = await network.play('goesOn');
    // What it had committed, and the hundred that came when nobody else was there.
    expect(cut.committed).toBe(500 - other.committed);
    expect(cut.committed).toBeGreaterThanOrEqual(118);
    expect(cut.lost).toBeLessThanOrEqual(2);
    expectEachOnce(urls, 500);
    expect(counts).toEqual({ total: 500, succeeded: 500, failed: 0, skipped: 0, pending: 0 });
  }, 240_000);

  test('ends in good order when others have crawled all meanwhile: each record once, none lost', async () => {
    const { crawl, cut, fromFar, repeated, urls, wanted } = await network.play('crawl');
    expect(crawl.code, crawl.stderr).toBe(0);
    expect(cut.code, cut.stderr).toBe(0);
    expect(urls.toSorted()).toEqual(wanted.toSorted());
    expect(fromFar).toBeLessThan(wanted.length);
    // What it had under way when it was cut off was fetched again by the other.
    expect(repeated).toBeGreaterThan(0);
    for (const { stdout } of [crawl, cut]) {
      const { requests, workers } = JSON.parse(stdout) as Summary;
      expect(requests).toMatchObject({ total: wanted.length, succeeded: wanted.length, failed: 0, pending: 0 });
      expect(workers!.reduce((sum, worker) => sum + worker.requests, 0)).toBe(wanted.length);
    }
  }, 240_000);
});

function expectEachOnce(urls: readonly string[], count: number): void {
  expect(urls.toSorted()).toEqual(
    requestsOf(count)
      .map(({ url }) => url)
      .toSorted(),
  );
}
