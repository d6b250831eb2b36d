import type { LookupAddress } from 'node:dns';
import { beforeEach, expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { DnsCache } from '../../src/http/dns-cache.ts';

let nowMs = 0;
const clock: Clock = { nowMs: () => nowMs, wallMs: () => nowMs, sleep: async () => {}, schedule: () => () => {} };
const queries: { hostname: string; answer: PromiseWithResolvers<LookupAddress[]> }[] = [];
let dns: DnsCache;

const at = (address: string): LookupAddress[] => [{ address, family: 4 }];
const failureOf = (code: string): Error => Object.assign(new Error(code), { code });

beforeEach(() => {
  nowMs = 0;
  queries.length = 0;
  dns = new DnsCache({
    clock,
    resolve: (hostname) => {
      const answer = Promise.withResolvers<LookupAddress[]>();
      queries.push({ hostname, answer });
      return answer.promise;
    },
  });
});

async function learn(address: string): Promise<void> {
  const asked = dns.addressesOf('a.test');
  queries.at(-1)!.answer.resolve(at(address));
  await asked;
  await settle();
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('shares one query among those who ask at once', async () => {
  const asked = [dns.addressesOf('a.test'), dns.addressesOf('a.test')];
  expect(queries).toHaveLength(1);
  queries[0]!.answer.resolve(at('192.0.2.1'));
  expect(await Promise.all(asked)).toEqual([at('192.0.2.1'), at('192.0.2.1')]);
});

test('keeps an answer for 60 seconds', async () => {
  await learn('192.0.2.1');
  nowMs = 59_999;
  expect(dns.addressesOf('a.test')).toEqual(at('192.0.2.1'));
  expect(queries).toHaveLength(1);
});

test('gives the old answer at once while it fetches a fresh one', async () => {
  await learn('192.0.2.1');
  nowMs = 60_000;
  expect(dns.addressesOf('a.test')).toEqual(at('192.0.2.1'));
  expect(dns.addressesOf('a.test')).toEqual(at('192.0.2.1'));
  expect(queries).toHaveLength(2);
  queries[1]!.answer.resolve(at('192.0.2.2'));
  await settle();
  expect(dns.addressesOf('a.test')).toEqual(at('192.0.2.2'));
});

test('goes on with the old answer while the resolver is down, but not for ever', async () => {
  await learn('192.0.2.1');
  nowMs = 60_000;
  dns.addressesOf('a.test');
  queries[1]!.answer.reject(failureOf('EAI_AGAIN'));
  await settle();
  expect(dns.addressesOf('a.test')).toEqual(at('192.0.2.1'));
  queries[2]!.answer.reject(failureOf('EAI_AGAIN'));
  await settle();
  nowMs = 600_000;
  const asked = dns.addressesOf('a.test');
  queries[3]!.answer.reject(failureOf('EAI_AGAIN'));
  await expect(asked).rejects.toThrow('EAI_AGAIN');
});

test('forgets a name that no longer exists', async () => {
  await learn('192.0.2.1');
  nowMs = 60_000;
  dns.addressesOf('a.test');
  queries[1]!.answer.reject(failureOf('ENOTFOUND'));
  await settle();
  const asked = dns.addressesOf('a.test');
  queries[2]!.answer.reject(failureOf('ENOTFOUND'));
  await expect(asked).rejects.toThrow('ENOTFOUND');
});

test('does not keep failures', async () => {
  const first = dns.addressesOf('a.test');
  queries[0]!.answer.reject(failureOf('ENOTFOUND'));
  await expect(first).rejects.toThrow('ENOTFOUND');
  await learn('192.0.2.1');
  expect(dns.addressesOf('a.test')).toEqual(at('192.0.2.1'));
});
