import { expect, test } from 'vitest';
import { Buckets } from '../../src/governor/buckets.ts';
import { governed } from './harness.ts';

function get(path: string) {
  return { method: 'GET', url: `https://api.example.com${path}` };
}

test('the first bucket named is the host’s own', () => {
  const buckets = new Buckets();
  expect(buckets.bucketOf(get('/repos/a/b'))).toBe('');
  expect(buckets.learn(get('/repos/a/b'), 'core')).toBe('');
  expect(buckets.bucketOf(get('/repos/c/d'))).toBe('');
});

test('tells buckets apart by as much of the path as it takes', () => {
  const buckets = new Buckets();
  buckets.learn(get('/repos/a/b'), 'core');
  buckets.learn(get('/search/issues?q=x'), 'search');
  buckets.learn(get('/search/code?q=x'), 'code_search');
  expect(buckets.bucketOf(get('/search/issues?q=y'))).toBe('search');
  expect(buckets.bucketOf(get('/search/users?q=y'))).toBe('search');
  expect(buckets.bucketOf(get('/search/code?q=y'))).toBe('code_search');
  expect(buckets.bucketOf(get('/repos/e/f'))).toBe('');
});

test('tells methods of one path apart', () => {
  const buckets = new Buckets();
  buckets.learn(get('/items'), 'read');
  buckets.learn({ method: 'POST', url: 'https://api.example.com/items' }, 'write');
  buckets.learn(get('/items'), 'read');
  expect(buckets.bucketOf(get('/items'))).toBe('');
  expect(buckets.bucketOf({ method: 'POST', url: 'https://api.example.com/items' })).toBe('write');
});

test('takes ids in a path for the same, but for Discord’s, which it counts apart', () => {
  const buckets = new Buckets();
  buckets.learn(get('/users'), 'users');
  buckets.learn(get('/users/1/posts'), 'posts');
  expect(buckets.bucketOf(get('/users/2/posts'))).toBe('posts');
  const discord = new Buckets();
  const messages = (id: number) => ({ method: 'GET', url: `https://discord.com/api/v10/channels/${id}/messages` });
  discord.learn({ method: 'GET', url: 'https://discord.com/api/v10/users/@me' }, 'me');
  expect(discord.learn(messages(111), 'abcd')).toBe('abcd:111');
  expect(discord.learn(messages(222), 'abcd')).toBe('abcd:222');
  expect(discord.bucketOf(messages(222))).toBe('abcd:222');
});

test('a spent bucket parks its own requests and no others', () => {
  const { governor, roundTrip, time, ask } = governed();
  const url = 'https://api.example.com/repos/a';
  const searchUrl = 'https://api.example.com/search/code';
  expect(governor.keyFor({ url, method: 'GET' })).toBe('api.example.com');
  roundTrip({ url, method: 'GET', headers: { 'x-ratelimit-resource': 'core' } });
  roundTrip({
    url: searchUrl,
    method: 'GET',
    status: 429,
    headers: { 'x-ratelimit-resource': 'search', 'retry-after': '60' },
  });
  const searchKey = governor.keyFor({ url: searchUrl, method: 'GET' });
  expect(searchKey).toBe('api.example.com###search');
  expect(governor.keyFor({ url, method: 'GET' })).toBe('api.example.com');
  expect(ask('api.example.com')).toBe(0);
  expect(ask(searchKey)).toBe(time.nowMs + 60_000);
});

test('where nobody asks by bucket, the whole host waits', () => {
  const { roundTrip, time, ask } = governed();
  const url = 'https://api.example.com/search/code';
  roundTrip({ url: 'https://api.example.com/repos', headers: { 'x-ratelimit-resource': 'core' } });
  roundTrip({ url, status: 429, headers: { 'x-ratelimit-resource': 'search', 'retry-after': '60' } });
  expect(ask()).toBe(time.nowMs + 60_000);
});

test('a key follows what the server counts by: the credential, or the address', () => {
  const request = { url: 'https://api.example.com/x', method: 'GET', credential: 'team-a', egress: 'proxy-1' };
  expect(governed().governor.keyFor(request)).toBe('api.example.com#team-a##');
  expect(governed({ limitScope: 'address' }).governor.keyFor(request)).toBe('api.example.com##proxy-1#');
  expect(governed().governor.keyFor({ url: request.url, method: 'GET', egress: 'proxy-1' })).toBe(
    'api.example.com##proxy-1#',
  );
  expect(governed().governor.keyFor({ url: request.url, method: 'GET' })).toBe('api.example.com');
});

test('buckets of one budget share its configured rate', () => {
  const { ask } = governed({ requestsPerSecond: 10 });
  expect(ask('api.example.com')).toBe(0);
  expect(ask('api.example.com###search')).toBe(100);
});
