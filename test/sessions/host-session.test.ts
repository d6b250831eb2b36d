import { Session } from '@crawlee/core';
import { describe, expect, test } from 'vitest';
import { credentialsNamed, poolsOf } from './fixture.ts';

const HOST = 'api.example.com';
const URL_1 = `https://${HOST}/items/1`;

describe('a session is a Crawlee session', () => {
  test('is an instance of Session with all that a handler looks at', () => {
    const { pools, clock } = poolsOf({ default: { sessionPool: { maxAgeSecs: 60, maxUsageCount: 7 } } });
    const session = pools.take(HOST, HOST);
    expect(session).toBeInstanceOf(Session);
    expect(session.id).toMatch(/^session_[0-9a-f]{16}$/);
    expect(session.userData).toEqual({});
    expect([session.usageCount, session.errorScore, session.maxUsageCount, session.maxErrorScore]).toEqual([
      0, 0, 7, 3,
    ]);
    expect(session.createdAt.getTime()).toBe(clock.wallMs());
    expect(session.expiresAt.getTime()).toBe(clock.wallMs() + 60_000);
    expect(session.isUsable()).toBe(true);
  });

  test('has every field that Crawlee gives its own', () => {
    const { pools } = poolsOf({});
    const theirs = Object.keys(new Session({ sessionPool: pools.crawleePool }));
    const session = pools.take(HOST, HOST);
    // The jar is made when it is first asked for.
    expect(theirs.filter((name) => !Object.hasOwn(session, name))).toEqual(['_cookieJar']);
    expect(session.cookieJar.getCookiesSync(URL_1)).toEqual([]);
  });

  test('markGood, markBad and retire count as in Crawlee', () => {
    const { pools } = poolsOf({});
    const session = pools.take(HOST, HOST);
    session.markBad();
    session.markGood();
    expect([session.usageCount, session.errorScore]).toEqual([2, 0.5]);
    session.retire();
    expect(session.isUsable()).toBe(false);
    expect(pools.take(HOST, HOST).id).not.toBe(session.id);
  });

  test('is replaced after maxUsageCount requests, after maxAgeSecs, and after maxErrorScore errors', () => {
    const policy = { maxUsageCount: 2, maxAgeSecs: 60, maxErrorScore: 1 };
    const { pools, clock } = poolsOf({ default: { sessionPool: policy } });
    const used = pools.take(HOST, HOST);
    used.markGood();
    expect(pools.take(HOST, HOST)).toBe(used);
    used.markGood();
    const old = pools.take(HOST, HOST);
    clock.pass(59_999);
    expect(pools.take(HOST, HOST)).toBe(old);
    clock.pass(1);
    const bad = pools.take(HOST, HOST);
    bad.markBad();
    expect(new Set([used, old, bad, pools.take(HOST, HOST)]).size).toBe(4);
  });

  test('retireOnBlockedStatusCodes goes by the host', () => {
    const { pools } = poolsOf({ 'a.example': { sessionPool: { blockedStatusCodes: [418] } } });
    expect(pools.take('a.example', 'a.example').retireOnBlockedStatusCodes(418)).toBe(true);
    expect(pools.take('b.example', 'b.example').retireOnBlockedStatusCodes(418)).toBe(false);
    expect(pools.take('b.example', 'b.example').retireOnBlockedStatusCodes(418, [418])).toBe(true);
  });
});

describe("Crawlee's session pool", () => {
  test('tells of sessions that retire, counts all, and finds one by id', async () => {
    const { pools } = poolsOf({});
    const retired: string[] = [];
    pools.crawleePool.on('sessionRetired', (session: Session) => retired.push(session.id));
    const [a, b] = [pools.take('a.example', 'a.example'), pools.take('b.example', 'b.example')];
    a.retire();
    expect(retired).toEqual([a.id]);
    expect([pools.crawleePool.usableSessionsCount, pools.crawleePool.retiredSessionsCount]).toEqual([1, 1]);
    expect(await pools.crawleePool.getSession(b.id)).toBe(b);
    expect(await pools.crawleePool.getSession(a.id)).toBeUndefined();
    expect((await pools.crawleePool.getSession()).isUsable()).toBe(true);
    expect(pools.crawleePool.getState().sessions.map(({ id }) => id)).toContain(b.id);
  });

  test('drops what was replaced', () => {
    const { pools } = poolsOf({ default: { sessionPool: { maxUsageCount: 1 } } });
    for (let request = 0; request < 50; request++) pools.take(HOST, HOST).markGood();
    expect(pools.crawleePool.getState().sessions).toHaveLength(1);
  });
});

describe('cookies', () => {
  const cookieOf = (headers: Readonly<Record<string, string>> | null) => headers?.cookie ?? null;

  test('go back to where they came from, by path, domain and scheme', () => {
    const { pools } = poolsOf({});
    const session = pools.take(HOST, HOST);
    pools.onResponse(session, URL_1, 200, [
      'a=1; Path=/',
      'b=2; Path=/items',
      'c=3; Path=/; Secure',
      'd=4; Domain=example.com; Path=/',
    ]);
    const sent = (url: string) => cookieOf(pools.headersFor(session, url));
    expect(sent(URL_1)).toBe('b=2; a=1; c=3; d=4');
    expect(sent(`https://${HOST}/other`)).toBe('a=1; c=3; d=4');
    expect(sent(`http://${HOST}/other`)).toBe('a=1; d=4');
    expect(sent('https://www.example.com/')).toBe('d=4');
    expect(sent('https://other.example/')).toBeNull();
  });

  test('are not taken for a foreign domain, or when they cannot be read', () => {
    const { pools } = poolsOf({});
    const session = pools.take(HOST, HOST);
    pools.onResponse(session, URL_1, 200, ['a=1; Domain=evil.example', '', 'b=2; Domain=com']);
    expect(pools.headersFor(session, URL_1)).toBeNull();
    expect(pools.headersFor(session, 'https://evil.example/')).toBeNull();
  });

  test('end with their time', () => {
    const { pools, clock } = poolsOf({});
    const session = pools.take(HOST, HOST);
    const expires = new Date(Date.now() + 3_600_000).toUTCString();
    pools.onResponse(session, URL_1, 200, [`a=1; Path=/; Expires=${expires}`, 'b=2; Path=/']);
    expect(cookieOf(pools.headersFor(session, URL_1))).toBe('a=1; b=2');
    pools.onResponse(session, URL_1, 200, 'a=; Path=/; Max-Age=0');
    expect(cookieOf(pools.headersFor(session, URL_1))).toBe('b=2');
    clock.pass(1);
    expect(cookieOf(pools.headersFor(session, URL_1))).toBe('b=2');
  });

  test('that a handler sets are sent with the next request', () => {
    const { pools } = poolsOf({});
    const session = pools.take(HOST, HOST);
    session.setCookie('a=1; Path=/', URL_1);
    expect(cookieOf(pools.headersFor(session, URL_1))).toBe('a=1');
    session.cookieJar.setCookieSync('b=2; Path=/', URL_1);
    session.setCookies([{ name: 'c', value: '3', domain: HOST, path: '/' }], URL_1);
    expect(cookieOf(pools.headersFor(session, URL_1))).toBe('a=1; b=2; c=3');
    session.cookieJar.removeAllCookiesSync();
    expect(cookieOf(pools.headersFor(session, URL_1))).toBeNull();
  });

  test('belong to one session of one host', () => {
    const { pools } = poolsOf({});
    const first = pools.take(HOST, HOST);
    pools.onResponse(first, URL_1, 200, 'who=first; Path=/');
    const others = Array.from({ length: 9 }, () => pools.take(HOST, HOST));
    expect(new Set([first, ...others]).size).toBe(10);
    expect(others.map((session) => pools.headersFor(session, URL_1))).toEqual(others.map(() => null));
    expect(pools.take(HOST, HOST)).toBe(first);
    expect(pools.headersFor(pools.take('b.example', 'b.example'), URL_1)).toBeNull();
  });

  test('make a host use its pool; without them one session is as good as ten', () => {
    const { pools } = poolsOf({});
    const sessions = Array.from({ length: 100 }, () => pools.take(HOST, HOST));
    expect(new Set(sessions).size).toBe(1);
  });
});

describe('a credential', () => {
  const hosts = { [HOST]: { sessionPool: { credentials: credentialsNamed('a') } } };

  test('goes to its own host alone, whatever a redirect says', () => {
    const { pools } = poolsOf(hosts);
    const session = pools.take(HOST, HOST);
    const sent = [
      URL_1,
      `https://${HOST}`,
      `https://${HOST}:443/x`,
      `https://${HOST.toUpperCase()}/x`,
      `https://${HOST}:8443/x`,
      'https://evil.example/',
      `https://${HOST}.evil.example/`,
      `https://${HOST}@evil.example/`,
    ].map((url) => pools.headersFor(session, url)?.['x-key'] ?? null);
    expect(sent).toEqual([...Array(4).fill('secret-a'), ...Array(4).fill(null)]);
  });

  test('does not go over http once the host was reached by https', () => {
    const { pools } = poolsOf(hosts);
    const session = pools.take(HOST, HOST);
    const overHttp = () => pools.headersFor(session, `http://${HOST}/x`);
    expect(overHttp()).toEqual({ 'x-key': 'secret-a' });
    expect(pools.headersFor(session, URL_1)).toEqual({ 'x-key': 'secret-a' });
    expect(overHttp()).toBeNull();
  });

  test('is the same object for each request, and stays beside cookies', () => {
    const { pools } = poolsOf(hosts);
    const session = pools.take(HOST, HOST);
    expect(pools.headersFor(session, URL_1)).toBe(pools.headersFor(session, `https://${HOST}/items/2`));
    pools.onResponse(session, URL_1, 200, 'c=1; Path=/');
    expect(pools.headersFor(session, URL_1)).toEqual({ 'x-key': 'secret-a', cookie: 'c=1' });
  });

  test('that is a cookie itself is sent with the others', () => {
    const credentials = [{ name: 'a', headers: { Cookie: 'login=x' } }];
    const { pools } = poolsOf({ [HOST]: { sessionPool: { credentials } } });
    const session = pools.take(HOST, HOST);
    pools.onResponse(session, URL_1, 200, 'c=1; Path=/');
    expect(pools.headersFor(session, URL_1)).toEqual({ cookie: 'login=x; c=1' });
  });

  test('is read when it is first needed, and shown by its name', () => {
    const credentials = [{ name: 'main', headers: { Authorization: 'Bearer ${env:TOKEN}' } }];
    const secrets: Record<string, string> = {};
    const { pools } = poolsOf({ [HOST]: { sessionPool: { credentials } } }, { secrets });
    const session = pools.take(HOST, HOST);
    expect(() => pools.headersFor(session, URL_1)).toThrow('${env:TOKEN} is not set');
    secrets.TOKEN = 's3cret\n';
    expect(pools.headersFor(session, URL_1)).toEqual({ authorization: 'Bearer s3cret' });
    expect(session.credential?.name).toBe('main');
  });
});
