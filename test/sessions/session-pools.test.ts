import { describe, expect, test } from 'vitest';
import type { HostEntry } from '../../src/config/host-schema.ts';
import { hostSchema } from '../../src/config/host-schema.ts';
import { messageOf } from '../../src/core/errors.ts';
import { HttpError } from '../../src/http/http-error.ts';
import { type HostSession, sessionPoolProblems } from '../../src/sessions/session-pools.ts';
import { credentialsNamed, poolsOf, revealFrom } from './fixture.ts';

const HOST = 'api.example.com';
const URL_1 = `https://${HOST}/items/1`;
const PROXIES = ['http://u:hunter2@p1:1', 'http://p2:2', 'http://p3:3'];
const proxyFailure = () => new HttpError({ code: 'PROXY_FAILED', message: 'test', wasSent: false });

const withCredentials = (...names: string[]): Record<string, HostEntry> => ({
  [HOST]: { sessionPool: { credentials: credentialsNamed(...names) } },
});
const withProxies = (entry: HostEntry, policy: HostEntry['sessionPool'] = {}): Record<string, HostEntry> => ({
  [HOST]: { ...entry, sessionPool: { proxyUrls: PROXIES, ...policy } },
});

describe('governor keys', () => {
  test('a host with nothing configured, or with one credential, is its own key', () => {
    expect(poolsOf({}).pools.keysOf(HOST)).toEqual([HOST]);
    expect(poolsOf(withCredentials('a')).pools.keysOf(HOST)).toEqual([HOST]);
  });

  test('each of several credentials has a budget of its own', () => {
    const { pools } = poolsOf(withCredentials('a', 'b'));
    expect(pools.keysOf(HOST)).toEqual([`${HOST}#a##`, `${HOST}#b##`]);
    expect(pools.take(HOST, `${HOST}#b##`).credential?.name).toBe('b');
  });

  test('proxies have one budget together while the server counts by credential, and one each when it counts by address', () => {
    expect(poolsOf(withProxies({})).pools.keysOf(HOST)).toEqual([HOST]);
    const { pools } = poolsOf(withProxies({ limitScope: 'address' }));
    expect(pools.keysOf(HOST)).toEqual([`${HOST}##p1:1#`, `${HOST}##p2:2#`, `${HOST}##p3:3#`]);
    expect(pools.proxyOf(pools.take(HOST, `${HOST}##p2:2#`))).toBe('http://p2:2/');
  });

  test('credentials share the budget of their address when the server counts by address', () => {
    const { pools } = poolsOf({
      [HOST]: { limitScope: 'address', sessionPool: { credentials: credentialsNamed('a', 'b') } },
    });
    expect(pools.keysOf(HOST)).toEqual([HOST]);
    const names = Array.from({ length: 4 }, () => pools.take(HOST, HOST).credential?.name);
    expect(names).toEqual(['a', 'b', 'a', 'b']);
  });

  test("share the host's maxPoolSize", () => {
    const { pools } = poolsOf({
      [HOST]: { sessionPool: { credentials: credentialsNamed('a', 'b'), maxPoolSize: 5 } },
    });
    for (let request = 0; request < 20; request++) {
      const key = pools.keysOf(HOST)[request % 2]!;
      pools.onResponse(pools.take(HOST, key), URL_1, 200, 'c=1; Path=/');
    }
    expect(pools.crawleePool.usableSessionsCount).toBe(4);
  });

  test('the one with most remaining comes first', () => {
    const remaining: Record<string, number> = { [`${HOST}#a##`]: 5, [`${HOST}#b##`]: 4000, [`${HOST}#c##`]: 80 };
    const { pools, clock } = poolsOf(withCredentials('a', 'b', 'c'), { remainingOf: (key) => remaining[key]! });
    for (const key of Object.keys(remaining)) pools.take(HOST, key);
    expect(pools.keysOf(HOST).map((key) => key[HOST.length + 1])).toEqual(['b', 'c', 'a']);
    remaining[`${HOST}#b##`] = 0;
    clock.pass(20);
    expect(pools.keysOf(HOST).map((key) => key[HOST.length + 1])).toEqual(['c', 'a', 'b']);
  });

  test('one that was never used goes first: what it has left is told by its first answer', () => {
    const { pools, clock } = poolsOf(withCredentials('a', 'b'), {
      remainingOf: (key) => (key.includes('#a#') ? 9 : 1),
    });
    const order = (): string[] => pools.keysOf(HOST).map((key) => key[HOST.length + 1]!);
    pools.take(HOST, `${HOST}#a##`);
    expect(order()).toEqual(['b', 'a']);
    pools.take(HOST, `${HOST}#b##`);
    clock.pass(20);
    expect(order()).toEqual(['a', 'b']);
  });
});

describe('a refused request', () => {
  test('fails with its status when there is nobody else to be, and the session stays', () => {
    const { pools } = poolsOf(withCredentials('a'));
    const session = pools.take(HOST, HOST);
    expect(pools.onResponse(session, URL_1, 403)).toBe('refused');
    expect(pools.take(HOST, HOST)).toBe(session);
  });

  test('goes to another credential, and the refused one rests', () => {
    const { pools, clock, events } = poolsOf(withCredentials('a', 'b'));
    const session = pools.take(HOST, `${HOST}#a##`);
    expect(pools.onResponse(session, URL_1, 401)).toBe('rotate');
    expect(session.isUsable()).toBe(false);
    expect(pools.keysOf(HOST)).toEqual([`${HOST}#b##`]);
    expect(events.map(({ kind, host, reason }) => [kind, host, reason])).toEqual([
      ['session', HOST, 'credential "a" was refused with 401; it rests for 30 s'],
    ]);
    clock.pass(30_000);
    expect(pools.keysOf(HOST).toSorted()).toEqual([`${HOST}#a##`, `${HOST}#b##`]);
  });

  test('keeps its credential resting, whatever still comes to what was sent before', () => {
    const { pools, clock } = poolsOf(withCredentials('a', 'b'));
    const [early, late] = [pools.take(HOST, `${HOST}#a##`), pools.take(HOST, `${HOST}#a##`)];
    pools.onResponse(early, URL_1, 401);
    expect(pools.onResponse(late, URL_1, 200)).toBe('ok');
    expect(pools.keysOf(HOST)).toEqual([`${HOST}#b##`]);
    clock.pass(30_000);
    pools.onResponse(pools.take(HOST, `${HOST}#a##`), URL_1, 200);
    expect(pools.keysOf(HOST)).toHaveLength(2);
  });

  test('that everybody is refused says nothing about who asked', () => {
    const { pools } = poolsOf(withCredentials('a', 'b', 'c'));
    const verdicts = ['a', 'b', 'c'].map((name, rotations) =>
      pools.onResponse(pools.take(HOST, `${HOST}#${name}##`), URL_1, 403, undefined, { rotations, proxyUrl: null }),
    );
    expect(verdicts).toEqual(['rotate', 'rotate', 'refused']);
    expect(pools.keysOf(HOST)).toHaveLength(3);
  });

  test('gets its turn with the others though an earlier request made them rest', () => {
    const { pools } = poolsOf(withCredentials('a', 'b'));
    pools.onResponse(pools.take(HOST, `${HOST}#a##`), URL_1, 403);
    const other = pools.take(HOST, `${HOST}#b##`);
    expect(pools.onResponse(other, `https://${HOST}/items/2`, 403)).toBe('rotate');
    expect(pools.keysOf(HOST)).toEqual([`${HOST}#a##`]);
  });

  test('a burst of refusals of one credential counts once, and each request rotates', () => {
    const { pools, clock } = poolsOf(withCredentials('a', 'b'));
    const sessions = Array.from({ length: 20 }, () => pools.take(HOST, `${HOST}#a##`));
    const verdicts = sessions.map((session) => pools.onResponse(session, URL_1, 401));
    expect(new Set(verdicts)).toEqual(new Set(['rotate']));
    clock.pass(30_000);
    expect(pools.keysOf(HOST)).toHaveLength(2);
  });

  test('a credential that is refused again and again rests longer each time, tried by one request alone', () => {
    const { pools, clock } = poolsOf(withCredentials('a', 'b'));
    pools.onResponse(pools.take(HOST, `${HOST}#a##`), URL_1, 401);
    clock.pass(30_000);
    const trial = pools.take(HOST, `${HOST}#a##`);
    expect(pools.keysOf(HOST)).toEqual([`${HOST}#b##`]);
    pools.onResponse(trial, URL_1, 401);
    clock.pass(59_999);
    expect(pools.keysOf(HOST)).toEqual([`${HOST}#b##`]);
    clock.pass(1);
    expect(pools.onResponse(pools.take(HOST, `${HOST}#a##`), URL_1, 200)).toBe('ok');
    expect(pools.keysOf(HOST)).toHaveLength(2);
  });

  test('goes on with the same credential once its file holds another secret', () => {
    const secrets: Record<string, string> = { 'token.txt': 'old' };
    const credentials = [{ name: 'a', headers: { 'x-key': '${file:token.txt}' } }];
    const { pools } = poolsOf({ [HOST]: { sessionPool: { credentials } } }, { secrets });
    const session = pools.take(HOST, HOST);
    expect(pools.headersFor(session, URL_1)).toEqual({ 'x-key': 'old' });
    secrets['token.txt'] = 'new';
    expect(pools.onResponse(session, URL_1, 401)).toBe('rotate');
    const next = pools.take(HOST, HOST);
    expect(pools.headersFor(next, URL_1)).toEqual({ 'x-key': 'new' });
    expect(pools.onResponse(next, URL_1, 401)).toBe('refused');
    delete secrets['token.txt'];
    expect(pools.onResponse(pools.take(HOST, HOST), URL_1, 401)).toBe('refused');
    expect(pools.headersFor(pools.take(HOST, HOST), URL_1)).toEqual({ 'x-key': 'new' });
  });

  test('gets one more try as a stranger when its session had cookies', () => {
    const { pools } = poolsOf({});
    const session = pools.take(HOST, HOST);
    pools.onResponse(session, URL_1, 200, 'a=1; Path=/');
    expect(pools.onResponse(session, URL_1, 403)).toBe('rotate');
    const stranger = pools.take(HOST, HOST);
    expect(pools.headersFor(stranger, URL_1)).toBeNull();
    expect(pools.onResponse(stranger, URL_1, 403, undefined, { rotations: 1, proxyUrl: null })).toBe('refused');
  });

  test('429 and 503 never count against a session, even if listed', () => {
    const { pools } = poolsOf({
      [HOST]: { sessionPool: { credentials: credentialsNamed('a', 'b'), blockedStatusCodes: [401, 403, 429, 503] } },
    });
    const session = pools.take(HOST, `${HOST}#a##`);
    expect([429, 503].map((status) => pools.onResponse(session, URL_1, status))).toEqual(['ok', 'ok']);
    expect([session.usageCount, session.errorScore, pools.keysOf(HOST).length]).toEqual([0, 0, 2]);
  });

  test('which statuses are refusals is a matter of the host', () => {
    const hosts = {
      ...withCredentials('a', 'b'),
      'b.example': { sessionPool: { credentials: credentialsNamed('a', 'b'), blockedStatusCodes: [418] } },
    };
    const { pools } = poolsOf(hosts);
    expect(pools.onResponse(pools.take(HOST, `${HOST}#a##`), URL_1, 418)).toBe('ok');
    expect(pools.onResponse(pools.take('b.example', 'b.example#a##'), 'https://b.example/', 418)).toBe('rotate');
    expect(pools.onResponse(pools.take('b.example', 'b.example#b##'), 'https://b.example/', 403)).toBe('ok');
  });

  test('by the host a redirect led to says nothing of the identities of this one', () => {
    const { pools } = poolsOf(withCredentials('a', 'b'));
    const session = pools.take(HOST, `${HOST}#a##`);
    expect(pools.onResponse(session, 'https://login.example/', 403)).toBe('refused');
    expect([session.isUsable(), pools.keysOf(HOST).length]).toEqual([true, 2]);
  });

  test('blames the proxy where there are no credentials', () => {
    const { pools, events } = poolsOf(withProxies({}));
    const session = pools.take(HOST, HOST);
    const proxyUrl = pools.proxyOf(session);
    expect(pools.onResponse(session, URL_1, 403, undefined, { rotations: 0, proxyUrl })).toBe('rotate');
    expect(events[0]?.reason).toBe('proxy p1:1 was refused with 403; it rests for 1 s');
    expect(pools.proxyOf(pools.take(HOST, HOST))).toBe('http://p2:2/');
  });
});

describe('proxies', () => {
  const chosen = (pools: ReturnType<typeof poolsOf>['pools'], count: number) =>
    Array.from({ length: count }, () => pools.proxyOf(pools.take(HOST, HOST))!.replace(/.*(p\d).*/, '$1'));

  test('perSession: a session keeps its proxy, sessions share them out', () => {
    const { pools } = poolsOf(withProxies({}, { maxPoolSize: 6 }));
    expect(chosen(pools, 6)).toEqual(['p1', 'p2', 'p3', 'p1', 'p2', 'p3']);
    const session = pools.take(HOST, HOST);
    expect(Array.from({ length: 3 }, () => pools.proxyOf(session))).toEqual(Array(3).fill(`${PROXIES[0]}/`));
  });

  test('perRequest: the next proxy with each request, though the session is one', () => {
    const { pools } = poolsOf(withProxies({}, { rotation: 'perRequest' }));
    const session = pools.take(HOST, HOST);
    expect(pools.take(HOST, HOST)).toBe(session);
    expect(chosen(pools, 4)).toEqual(['p1', 'p2', 'p3', 'p1']);
  });

  test('one that fails rests, and its failure is not held against the session', () => {
    const { pools, clock, events } = poolsOf(withProxies({}, { rotation: 'perRequest' }));
    const session = pools.take(HOST, HOST);
    pools.onFailure(session, proxyFailure(), { rotations: 0, proxyUrl: pools.proxyOf(session) });
    expect([session.errorScore, session.usageCount]).toEqual([0, 0]);
    expect(events[0]).toMatchObject({ kind: 'proxy', reason: 'proxy p1:1 failed; it rests for 1 s' });
    expect(JSON.stringify(events)).not.toContain('hunter2');
    expect(chosen(pools, 4)).toEqual(['p2', 'p3', 'p2', 'p3']);
    clock.pass(1000);
    expect(chosen(pools, 4)).toEqual(['p1', 'p2', 'p3', 'p2']);
  });

  test('perSession: the session goes with its proxy; sticky: it keeps its cookies and moves on', () => {
    const outcomes = (['perSession', 'sticky'] as const).map((rotation) => {
      const { pools } = poolsOf(withProxies({}, { rotation }));
      const session = pools.take(HOST, HOST);
      pools.onFailure(session, proxyFailure(), { rotations: 0, proxyUrl: pools.proxyOf(session) });
      return [session.isUsable(), session.isUsable() && pools.proxyOf(session)];
    });
    expect(outcomes).toEqual([
      [false, false],
      [true, 'http://p2:2/'],
    ]);
  });

  test('while all rest there is no key, and it is told when there will be one', () => {
    const { pools, clock } = poolsOf({ [HOST]: { sessionPool: { proxyUrls: ['http://p1:1'] } } });
    const session = pools.take(HOST, HOST);
    pools.onFailure(session, proxyFailure(), { rotations: 0, proxyUrl: pools.proxyOf(session) });
    expect(pools.keysOf(HOST)).toEqual([]);
    expect(pools.readyAtMs(HOST)).toBe(1000);
    clock.pass(1000);
    expect(pools.keysOf(HOST)).toEqual([HOST]);
    pools.proxyOf(pools.take(HOST, HOST));
    expect(pools.keysOf(HOST)).toEqual([]);
    expect(pools.onResponse(session, URL_1, 404)).toBe('ok');
    expect(pools.keysOf(HOST)).toEqual([HOST]);
  });

  test('are not taken for well again by an answer that may be their own', () => {
    const { pools, clock } = poolsOf({ [HOST]: { sessionPool: { proxyUrls: ['http://p1:1'] } } });
    const session = pools.take(HOST, HOST);
    pools.onFailure(session, proxyFailure(), { rotations: 0, proxyUrl: pools.proxyOf(session) });
    clock.pass(1000);
    pools.onResponse(session, URL_1, 502, undefined, { rotations: 0, proxyUrl: pools.proxyOf(session) });
    expect(pools.keysOf(HOST)).toEqual([]);
    pools.onResponse(session, URL_1, 500);
    expect(pools.keysOf(HOST)).toEqual([HOST]);
  });

  test('by address, the key of a resting proxy is left out', () => {
    const { pools } = poolsOf(withProxies({ limitScope: 'address' }));
    const session = pools.take(HOST, `${HOST}##p2:2#`);
    pools.onFailure(session, proxyFailure(), { rotations: 0, proxyUrl: pools.proxyOf(session) });
    expect(pools.keysOf(HOST)).toEqual([`${HOST}##p1:1#`, `${HOST}##p3:3#`]);
  });

  test('a host whose proxies have all been dead for stallSecs is given up, with the reason', () => {
    const { pools, clock } = poolsOf({
      [HOST]: { stallSecs: 100, sessionPool: { proxyUrls: PROXIES, rotation: 'perRequest' } },
    });
    const session = pools.take(HOST, HOST);
    const failAll = () => {
      for (let turn = 0; turn < 3; turn++)
        pools.onFailure(session, proxyFailure(), { rotations: 0, proxyUrl: pools.proxyOf(session) });
    };
    failAll();
    clock.pass(99_999);
    expect(pools.givenUp(HOST)).toBeNull();
    failAll();
    clock.pass(1);
    expect(pools.givenUp(HOST)).toBe('none of its proxies (3) has worked for 100 s');
    pools.onResponse(session, URL_1, 200, undefined, { rotations: 0, proxyUrl: pools.proxyOf(session) });
    expect(pools.givenUp(HOST)).toBeNull();
  });

  test('of one host say nothing about those of another', () => {
    const { pools } = poolsOf({ default: { sessionPool: { proxyUrls: ['http://p1:1'] } } });
    const session = pools.take('a.example', 'a.example');
    pools.onFailure(session, proxyFailure(), { rotations: 0, proxyUrl: pools.proxyOf(session) });
    expect([pools.keysOf('a.example'), pools.keysOf('b.example')]).toEqual([[], ['b.example']]);
  });
});

describe('other failures', () => {
  test('count against the session, but for an abort', () => {
    const { pools } = poolsOf({});
    const session = pools.take(HOST, HOST);
    pools.onFailure(session, new DOMException('stopped', 'AbortError'));
    expect(session.errorScore).toBe(0);
    pools.onFailure(session, new HttpError({ code: 'CONNECTION_RESET', message: 'test', wasSent: true }));
    pools.onFailure(session, new TypeError('a bug in a route'));
    expect(session.errorScore).toBe(2);
  });
});

describe('a sticky session', () => {
  test('is taken again by its id, under its own key', () => {
    const { pools } = poolsOf(withCredentials('a', 'b'));
    const session = pools.take(HOST, `${HOST}#b##`);
    expect(pools.keysOf(HOST, session.id)).toEqual([`${HOST}#b##`]);
    expect(pools.take(HOST, `${HOST}#b##`, session.id)).toBe(session);
  });

  test('that is gone is replaced by any other of the host', () => {
    const { pools } = poolsOf(withCredentials('a', 'b'));
    const session = pools.take(HOST, `${HOST}#b##`);
    session.retire();
    expect(pools.keysOf(HOST, session.id)).toHaveLength(2);
    expect(pools.take(HOST, `${HOST}#a##`, session.id).key).toBe(`${HOST}#a##`);
    expect(pools.take(HOST, `${HOST}#a##`, 'never-seen').key).toBe(`${HOST}#a##`);
  });

  test('that is used up or too old still serves what is bound to it, and is gone for all else', () => {
    const { pools, clock } = poolsOf({ default: { sessionPool: { maxUsageCount: 2, maxAgeSecs: 60 } } });
    const usedUp = pools.take(HOST, HOST);
    pools.bind(usedUp);
    usedUp.markGood();
    usedUp.markGood();
    const tooOld = pools.take(HOST, HOST);
    expect(tooOld).not.toBe(usedUp);
    pools.bind(tooOld);
    clock.pass(60_000);
    expect([usedUp, tooOld]).not.toContain(pools.take(HOST, HOST));
    expect(pools.take(HOST, HOST, usedUp.id)).toBe(usedUp);
    expect(pools.take(HOST, HOST, tooOld.id)).toBe(tooOld);
  });

  test('that is not bound is not kept when it is used up', () => {
    const { pools } = poolsOf({ default: { sessionPool: { maxUsageCount: 1 } } });
    const usedUp = pools.take(HOST, HOST);
    usedUp.markGood();
    pools.take(HOST, HOST);
    expect(pools.take(HOST, HOST, usedUp.id)).not.toBe(usedUp);
  });

  test('outlives errors that are not its fault, and not a refusal', () => {
    const { pools, events } = poolsOf(withCredentials('a', 'b'));
    const session = pools.take(HOST, `${HOST}#b##`);
    pools.bind(session);
    for (let error = 0; error < 5; error++)
      pools.onFailure(session, new HttpError({ code: 'CONNECTION_RESET', message: 'test', wasSent: true }));
    expect(pools.take(HOST, `${HOST}#b##`, session.id)).toBe(session);
    expect(pools.onResponse(session, URL_1, 401)).toBe('rotate');
    expect(pools.take(HOST, `${HOST}#a##`, session.id).credential!.name).toBe('a');
    expect(events.at(-1)).toMatchObject({ kind: 'session', reason: expect.stringContaining(session.id) });
  });

  test('has a key again when its credential has rested, and tells when', () => {
    const { pools, clock } = poolsOf(withCredentials('a', 'b'));
    const [first, second] = [pools.take(HOST, `${HOST}#b##`), pools.take(HOST, `${HOST}#b##`)];
    expect(second).toBe(first);
    pools.onResponse(first, URL_1, 200, 'c=1; Path=/');
    const bound = pools.take(HOST, `${HOST}#b##`);
    expect(bound).not.toBe(first);
    pools.bind(bound);
    pools.onResponse(first, URL_1, 401);
    expect(pools.keysOf(HOST, bound.id)).toEqual([]);
    expect(pools.readyAtMs(HOST, bound.id)).toBe(30_000);
    expect(pools.readyAtMs(HOST)).toBe(0);
    clock.pass(30_000);
    expect(pools.keysOf(HOST, bound.id)).toEqual([`${HOST}#b##`]);
  });

  test('waits for a refused credential once: refused again, it is gone, and back when the credential is', () => {
    const { pools, clock } = poolsOf(withCredentials('a', 'b'));
    const [first, second, third] = [0, 1, 2].map(() => {
      const session = pools.take(HOST, `${HOST}#b##`);
      pools.onResponse(session, URL_1, 200, 'c=1; Path=/');
      pools.bind(session);
      return session;
    }) as [HostSession, HostSession, HostSession];
    expect(new Set([first, second, third]).size).toBe(3);
    pools.onResponse(first, URL_1, 401);
    expect(pools.keysOf(HOST, second.id)).toEqual([]);
    clock.pass(30_000);
    expect(pools.take(HOST, `${HOST}#b##`, second.id)).toBe(second);
    pools.onResponse(second, URL_1, 401);
    expect(pools.keysOf(HOST, third.id)).toEqual([`${HOST}#a##`]);
    expect(pools.take(HOST, `${HOST}#a##`, third.id).credential!.name).toBe('a');
    clock.pass(60_000);
    pools.onResponse(third, URL_1, 200);
    expect(pools.take(HOST, `${HOST}#b##`, third.id)).toBe(third);
  });

  test('of another host is not taken', () => {
    const { pools } = poolsOf({});
    const foreign = pools.take('b.example', 'b.example');
    expect(pools.take(HOST, HOST, foreign.id).host).toBe(HOST);
  });

  test('has no key while its proxy rests', () => {
    const { pools } = poolsOf(withProxies({ limitScope: 'address' }));
    const session = pools.take(HOST, `${HOST}##p2:2#`);
    pools.onFailure(session, proxyFailure(), { rotations: 0, proxyUrl: pools.proxyOf(session) });
    expect(pools.keysOf(HOST, session.id)).toEqual([]);
  });
});

describe('after a restart', () => {
  test('sessions with cookies or data of a handler are there again, by the same id', async () => {
    const hosts = withCredentials('a', 'b');
    const { pools, clock, store } = poolsOf(hosts);
    const session = pools.take(HOST, `${HOST}#b##`);
    pools.onResponse(session, URL_1, 200, 'c=1; Path=/');
    session.userData.step = 3;
    session.markGood();
    const plain = pools.take('b.example', 'b.example');
    await pools.persist();

    const { pools: later } = poolsOf(hosts, { clock, store });
    await later.restore();
    const restored = later.take(HOST, `${HOST}#b##`, session.id);
    expect([restored.id, restored.userData, restored.usageCount]).toEqual([session.id, { step: 3 }, 1]);
    expect(later.headersFor(restored, URL_1)).toEqual({ 'x-key': 'secret-b', cookie: 'c=1' });
    expect(restored.expiresAt).toEqual(session.expiresAt);
    expect(later.take('b.example', 'b.example').id).not.toBe(plain.id);
  });

  test('a session that requests are bound to is there again, from what was committed with them alone', async () => {
    const hosts = withCredentials('a', 'b');
    const { pools, clock, store } = poolsOf(hosts);
    const session = pools.take(HOST, `${HOST}#b##`);
    pools.headersFor(session, URL_1);
    pools.onResponse(session, URL_1, 200, 'c=1; Path=/');
    const state = pools.bind(session)!;
    await store.set(state.key, JSON.parse(state.json));
    session.markGood();
    pools.headersFor(session, URL_1);
    // What has only been used once more need not be written with each page.
    expect(pools.bind(session)).toBeNull();
    pools.onResponse(session, URL_1, 200, 'c=2; Path=/');
    const changed = pools.bind(session)!;
    expect(changed.key).toBe(state.key);
    await store.set(changed.key, JSON.parse(changed.json));

    // The process was killed: it has not persisted anything.
    const { pools: later } = poolsOf(hosts, { clock, store });
    await later.restore();
    const restored = later.take(HOST, `${HOST}#b##`, session.id);
    expect(restored.id).toBe(session.id);
    expect(later.headersFor(restored, URL_1)).toEqual({ 'x-key': 'secret-b', cookie: 'c=2' });
    expect(state.json + changed.json).not.toContain('secret-b');
  });

  test('one that was refused is not', async () => {
    const hosts = withCredentials('a', 'b');
    const { pools, clock, store } = poolsOf(hosts);
    const session = pools.take(HOST, `${HOST}#b##`);
    const state = pools.bind(session)!;
    await store.set(state.key, JSON.parse(state.json));
    session.retire();
    await pools.persist();
    const { pools: later } = poolsOf(hosts, { clock, store });
    await later.restore();
    expect(later.take(HOST, `${HOST}#b##`, session.id).id).not.toBe(session.id);
  });

  test('no secret is in the store', async () => {
    const hosts = withProxies({}, { credentials: credentialsNamed('a'), sticky: true });
    const { pools, store } = poolsOf(hosts);
    const session = pools.take(HOST, HOST);
    pools.headersFor(session, URL_1);
    pools.onFailure(session, proxyFailure(), { rotations: 0, proxyUrl: pools.proxyOf(session) });
    pools.take(HOST, HOST);
    await pools.persist();
    const stored = [...store.jsons.values()].join();
    expect(stored).toContain('"credential":"a"');
    expect(stored).not.toMatch(/secret-a|hunter2/);
  });

  test('what is no longer configured, too old or used up stays away', async () => {
    const { pools, clock, store } = poolsOf(withCredentials('a', 'b'));
    const sessions = ['a', 'b'].map((name) => pools.take(HOST, `${HOST}#${name}##`));
    for (const session of sessions) pools.onResponse(session, URL_1, 200, 'c=1; Path=/');
    await pools.persist();
    const survivors = async (hosts: Record<string, HostEntry>) => {
      const { pools: later } = poolsOf(hosts, { clock, store });
      await later.restore();
      later.take(HOST, HOST);
      return sessions.map(({ id }) => later.crawleePool.find(id) !== undefined);
    };
    expect(await survivors(withCredentials('a', 'b'))).toEqual([true, true]);
    expect(await survivors(withCredentials('b', 'c'))).toEqual([false, true]);
    expect(await survivors({})).toEqual([false, false]);
    clock.pass(3_000_000);
    expect(await survivors(withCredentials('a', 'b'))).toEqual([false, false]);
  });

  test('a rest goes on', async () => {
    const { pools, store, clock } = poolsOf(withCredentials('a', 'b'));
    pools.onResponse(pools.take(HOST, `${HOST}#a##`), URL_1, 401);
    await pools.persist();
    const { pools: later } = poolsOf(withCredentials('a', 'b'), { store, clock });
    await later.restore();
    clock.pass(29_999);
    expect(later.keysOf(HOST)).toEqual([`${HOST}#b##`]);
    clock.pass(1);
    expect(later.keysOf(HOST)).toHaveLength(2);
  });

  test('only what has changed is written, and what is over is deleted', async () => {
    const { pools, clock, store } = poolsOf({});
    pools.take('plain.example', 'plain.example');
    const session = pools.take(HOST, HOST);
    pools.onResponse(session, URL_1, 200, 'c=1; Path=/');
    await pools.persist();
    await pools.persist();
    expect([store.writes, [...store.jsons.keys()]]).toEqual([1, [`sessions/${HOST}`]]);
    clock.pass(3_000_000);
    await pools.persist();
    expect(store.jsons.size).toBe(0);
  });
});

describe('mistakes in the configuration', () => {
  const policyOf = (entry: object) => hostSchema.parse({ sessionPool: entry }).sessionPool;

  test('are told before anything is sent, without secrets', () => {
    const policy = policyOf({
      proxyUrls: ['${env:PROXY}'],
      credentials: [{ name: 'a', headers: { authorization: 'Bearer ${env:NOT_SET}' } }],
    });
    expect(sessionPoolProblems(policy, revealFrom({ PROXY: 'gopher://u:hunter2@x' }))).toEqual([
      'sessionPool.proxyUrls: line 1 is no http, https or socks URL',
      'credential "a": ${env:NOT_SET} is not set',
    ]);
    expect(sessionPoolProblems(policyOf({ proxyUrls: PROXIES }), String)).toEqual([]);
  });

  test('two credentials of one name are refused', () => {
    const problems = sessionPoolProblems(policyOf({ credentials: credentialsNamed('a', 'a') }), String);
    expect(problems).toEqual(['sessionPool.credentials: two are named "a"']);
    const { pools } = poolsOf(withCredentials('a', 'a'));
    let thrown: unknown;
    try {
      pools.keysOf(HOST);
    } catch (error) {
      thrown = error;
    }
    expect(messageOf(thrown)).toBe('sessionPool.credentials: two are named "a"');
  });
});
