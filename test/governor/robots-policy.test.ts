import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { CrawlEvent } from '../../src/core/events.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/core/units.ts';
import type { FetchText } from '../../src/governor/robots/fetch-robots.ts';
import { createRobotsPolicy, type RobotsPolicyOptions } from '../../src/governor/robots/robots-policy.ts';
import { splitUrl } from '../../src/governor/robots/split-url.ts';
import { FakeClock, settle } from '../fixtures/fake-clock.ts';

const ORIGIN = 'https://pond.example';
const URL_A = `${ORIGIN}/a`;
const RULES = 'User-agent: *\nDisallow: /private/\nCrawl-delay: 2';

type Answer = { status: number; headers?: Record<string, string>; text?: string } | Error | 'hang';

/** A policy over answers that the test gives: by URL, or one after the other (the last one is repeated). */
function policyWith(answers: Answer[] | Record<string, Answer>, options: Partial<RobotsPolicyOptions> = {}) {
  const clock = new FakeClock();
  const fetched: { url: string; atMs: number }[] = [];
  const events: CrawlEvent[] = [];
  const fetchText: FetchText = async (url) => {
    fetched.push({ url, atMs: clock.nowMs() });
    const answer = Array.isArray(answers) ? answers[Math.min(fetched.length, answers.length) - 1] : answers[url];
    if (answer === undefined) throw new Error(`no answer for ${url}`);
    if (answer === 'hang') return new Promise(() => {});
    if (answer instanceof Error) throw answer;
    return { headers: {}, text: '', ...answer };
  };
  const policy = createRobotsPolicy({
    fetchText,
    clock,
    productToken: 'otter',
    stallSecsOf: () => 900,
    onEvent: (event) => events.push(event),
    ...options,
  });
  const check = (url: string) => policy.check(url, clock.nowMs());
  return { policy, clock, fetched, events, check };
}

/** A key-value store as a run has it: what is put in comes out as JSON. */
function memoryStore(initial: Record<string, unknown> = {}) {
  const values = new Map(Object.entries(initial).map(([key, value]) => [key, JSON.stringify(value)]));
  return {
    values,
    get: async <T>(key: string) => JSON.parse(values.get(key) ?? 'null') as T | null,
    set: async (key: string, value: unknown) => void values.set(key, JSON.stringify(value)),
  };
}

describe('a file that is missing', () => {
  test('is told of with what came instead and the next try, until it is known', async () => {
    const { policy, check, clock } = policyWith([{ status: 503 }, { status: 200, text: RULES }]);
    expect(policy.missing('pond.example')).toBeNull();
    check(URL_A);
    expect(policy.missing('pond.example')).toEqual({ reason: null, nextFetchAtMs: null });
    await policy.whenKnown(URL_A);
    expect(policy.missing('pond.example')).toEqual({ reason: 'it answered 503', nextFetchAtMs: 1_000 });
    await clock.advance(1_000);
    await policy.whenKnown(URL_A);
    expect(policy.missing('pond.example')).toBeNull();
  });

  test('is waited for by nobody where the host is dead, or given up', async () => {
    const dead = policyWith([{ status: 503 }], { isDead: () => true });
    await dead.policy.whenKnown(URL_A);
    expect(dead.policy.missing('pond.example')).toBeNull();
    const givenUp = policyWith([{ status: 503 }], { stallSecsOf: () => 0 });
    await givenUp.policy.whenKnown(URL_A);
    expect(givenUp.policy.missing('pond.example')).toBeNull();
  });
});

describe('the first question about an origin', () => {
  test('starts one fetch, however many ask, and is answered when it has ended', async () => {
    const { policy, check, fetched } = policyWith([{ status: 200, text: RULES }]);
    expect(check(URL_A)).toBe('unknown');
    const waiting = Array.from({ length: 1000 }, (_, index) => policy.whenKnown(`${ORIGIN}/${index}`));
    expect(check(`${ORIGIN}/private/1`)).toBe('unknown');
    await Promise.all(waiting);
    expect(fetched).toEqual([{ url: `${ORIGIN}/robots.txt`, atMs: 0 }]);
    expect(check(URL_A)).toBe('allowed');
    expect(check(`${ORIGIN}/private/1`)).toEqual({ disallowed: 'Disallow: /private/' });
    expect(policy.crawlDelayMs(ORIGIN)).toBe(2_000);
  });

  test('may be the wait itself, and known rules are not waited for', async () => {
    const { policy, check, fetched } = policyWith([{ status: 200, text: RULES }]);
    await policy.whenKnown(URL_A);
    await policy.whenKnown(URL_A);
    expect(check(URL_A)).toBe('allowed');
    expect(fetched).toHaveLength(1);
  });

  test('is of that origin alone: scheme and port make another', async () => {
    const { policy, fetched } = policyWith([{ status: 200, text: RULES }]);
    const urls = [URL_A, 'http://pond.example/a', 'https://pond.example:8443/a', 'https://POND.example:443/b'];
    await Promise.all(urls.map((url) => policy.whenKnown(url)));
    expect(fetched.map(({ url }) => url)).toEqual([
      'https://pond.example/robots.txt',
      'http://pond.example/robots.txt',
      'https://pond.example:8443/robots.txt',
    ]);
  });

  test('looks rules up by the product token', async () => {
    const text = 'User-agent: heron\nDisallow: /a\nUser-agent: *\nDisallow: /b';
    const { policy, check } = policyWith([{ status: 200, text }], { productToken: 'Heron' });
    await policy.whenKnown(URL_A);
    expect([check(URL_A), check(`${ORIGIN}/b`)]).toEqual([{ disallowed: 'Disallow: /a' }, 'allowed']);
  });

  test('is not even asked for a host to be ignored', async () => {
    const { check, fetched } = policyWith([{ status: 200, text: 'User-agent: *\nDisallow: /' }], {
      isIgnored: (host) => host === 'pond.example',
    });
    expect(check(URL_A)).toBe('allowed');
    expect(check('https://lake.example/a')).toBe('unknown');
    await settle();
    expect(fetched.map(({ url }) => url)).toEqual(['https://lake.example/robots.txt']);
  });

  test('of a text that is no URL throws', () => {
    expect(() => policyWith([]).check('pond')).toThrow(TypeError);
  });
});

describe('the answer of the server', () => {
  test.each([400, 401, 403, 404, 410, 451])('%i means that there is none: everything is allowed', async (status) => {
    const { policy, check } = policyWith([{ status, text: 'User-agent: *\nDisallow: /' }]);
    await policy.whenKnown(URL_A);
    expect(check(URL_A)).toBe('allowed');
  });

  test.each([429, 500, 502, 503, 504, 599])('%i means that nobody can tell: nothing is allowed', async (status) => {
    const { policy, check, events } = policyWith([{ status }]);
    await policy.whenKnown(URL_A);
    expect(check(URL_A)).toBe('unknown');
    expect(events.map(({ reason }) => reason)).toEqual([
      `robots.txt is out of reach (it answered ${status}); nothing is sent meanwhile, next try in 1 s`,
    ]);
  });

  test('none at all is the same', async () => {
    const { policy, check, events } = policyWith([new Error('connection reset')]);
    await policy.whenKnown(URL_A);
    expect(check(URL_A)).toBe('unknown');
    expect(events[0]?.reason).toContain('(connection reset)');
  });

  test('a redirect is followed, also to another authority, and the rules are those of the first', async () => {
    const { policy, check, fetched } = policyWith({
      [`${ORIGIN}/robots.txt`]: { status: 301, headers: { location: '/r.txt' } },
      [`${ORIGIN}/r.txt`]: { status: 307, headers: { location: 'https://www.lake.example/robots.txt#x' } },
      'https://www.lake.example/robots.txt': { status: 200, text: RULES },
    });
    await policy.whenKnown(URL_A);
    expect(fetched).toHaveLength(3);
    expect(check(`${ORIGIN}/private/`)).toEqual({ disallowed: 'Disallow: /private/' });
    expect(check('https://www.lake.example/private/')).toBe('unknown');
  });

  test('five redirects are followed and the sixth is not: then there is none', async () => {
    const chain = (count: number) => [
      ...Array(count).fill({ status: 302, headers: { location: '/again' } }),
      { status: 200, text: 'User-agent: *\nDisallow: /' },
    ];
    const five = policyWith(chain(5));
    await five.policy.whenKnown(URL_A);
    expect([five.fetched.length, five.check(URL_A)]).toEqual([6, { disallowed: 'Disallow: /' }]);
    const six = policyWith(chain(6));
    await six.policy.whenKnown(URL_A);
    expect([six.fetched.length, six.check(URL_A)]).toEqual([6, 'allowed']);
  });

  test.each([
    ['no Location', {}],
    ['one that is no URL', { location: 'https://[oops' }],
    ['one to elsewhere than the web', { location: 'ftp://pond.example/robots.txt' }],
  ])('a redirect with %s leads nowhere: there is none', async (_, headers) => {
    const { policy, check, fetched } = policyWith([{ status: 302, headers }]);
    await policy.whenKnown(URL_A);
    expect([fetched.length, check(URL_A)]).toEqual([1, 'allowed']);
  });

  test('a redirect to a server that fails is out of reach', async () => {
    const { policy, check } = policyWith([{ status: 302, headers: { location: '/r' } }, { status: 503 }]);
    await policy.whenKnown(URL_A);
    expect(check(URL_A)).toBe('unknown');
  });
});

describe('a file out of reach', () => {
  test('is asked for again, each wait half the time it has lasted, from 1 s to 60 s', async () => {
    const { check, clock, fetched } = policyWith([{ status: 503 }]);
    check(URL_A);
    await clock.advance(400 * SECOND_MS);
    const times = fetched.map(({ atMs }) => atMs / SECOND_MS);
    expect(times.slice(0, 8)).toEqual([0, 1, 2, 3, 4.5, 6.75, 10.125, 15.1875]);
    const waits = times.slice(1).map((time, index) => time - times[index]!);
    expect(Math.max(...waits)).toBe(60);
    expect(waits.every((wait, index) => index === 0 || wait >= waits[index - 1]!)).toBe(true);
  });

  test('lets its host go on when it is back, and says so', async () => {
    const { check, clock, events, policy } = policyWith([
      { status: 500 },
      { status: 500 },
      { status: 200, text: RULES },
    ]);
    expect(check(URL_A)).toBe('unknown');
    await clock.advance(1_500);
    expect(check(URL_A)).toBe('unknown');
    const waiting = policy.whenKnown(URL_A);
    await clock.advance(500);
    await waiting;
    expect(check(URL_A)).toBe('allowed');
    expect(events.at(-1)).toEqual({
      atMs: clock.wallMs(),
      kind: 'robots',
      host: 'pond.example',
      reason: 'back in reach; robots.txt has 1 rule for us, and asks for 2 s between requests',
      facts: { rules: 1, crawlDelayMs: 2_000 },
    });
  });

  test('makes its host be given up after stallSecs, with the reason; other hosts never notice', async () => {
    const { check, clock, policy, events, fetched } = policyWith([{ status: 503 }], { stallSecsOf: () => 100 });
    check(URL_A);
    await clock.advance(99 * SECOND_MS);
    expect(policy.givenUp('pond.example')).toBeNull();
    await clock.advance(60 * SECOND_MS);
    expect(policy.givenUp('pond.example')).toBe('its robots.txt stayed out of reach: it answered 503');
    expect(policy.givenUp('lake.example')).toBeNull();
    expect(events.at(-1)).toMatchObject({ kind: 'given-up', host: 'pond.example' });
    const count = fetched.length;
    await clock.advance(HOUR_MS);
    expect([check(URL_A), fetched.length]).toEqual(['unknown', count]);
  });

  test('does not answer those who wait for a given-up host in a tight loop', async () => {
    const { check, clock, policy } = policyWith([{ status: 503 }], { stallSecsOf: () => 1 });
    check(URL_A);
    await clock.advance(10 * SECOND_MS);
    let isAnswered = false;
    void policy.whenKnown(URL_A).then(() => (isAnswered = true));
    await clock.advance(999);
    expect(isAnswered).toBe(false);
    await clock.advance(1);
    expect(isAnswered).toBe(true);
  });

  test('is not asked for before the time that Retry-After tells, which does not count as standing still', async () => {
    const answers = [{ status: 429, headers: { 'retry-after': '500' } }, { status: 503 }];
    const { check, clock, fetched, policy } = policyWith(answers, { stallSecsOf: () => 100 });
    check(URL_A);
    await clock.advance(499_999);
    expect(fetched).toHaveLength(1);
    await clock.advance(1);
    expect(fetched).toHaveLength(2);
    await clock.advance(99 * SECOND_MS);
    expect(policy.givenUp('pond.example')).toBeNull();
    await clock.advance(60 * SECOND_MS);
    expect(policy.givenUp('pond.example')).not.toBeNull();
  });

  test('of a host that nobody can connect to lets its requests go, so that they fail as such', async () => {
    let isDead = false;
    const { check, clock } = policyWith([new Error('connection refused')], { isDead: () => isDead });
    check(URL_A);
    await clock.advance(10 * SECOND_MS);
    expect(check(URL_A)).toBe('unknown');
    isDead = true;
    expect(check(URL_A)).toBe('allowed');
    isDead = false;
    expect(check(URL_A)).toBe('unknown');
  });

  test('does not count as such before the first fetch has ended', () => {
    expect(policyWith(['hang'], { isDead: () => true }).check(URL_A)).toBe('unknown');
  });
});

describe('rules that are known', () => {
  test('hold for 24 h, and then while a newer copy is fetched', async () => {
    const { check, clock, fetched } = policyWith([{ status: 200, text: RULES }, 'hang']);
    check(URL_A);
    await clock.advance(DAY_MS - 1);
    expect(check(URL_A)).toBe('allowed');
    expect(fetched).toHaveLength(1);
    await clock.advance(1);
    expect(check(URL_A)).toBe('allowed');
    expect(check(`${ORIGIN}/private/`)).toEqual({ disallowed: 'Disallow: /private/' });
    await settle();
    expect(fetched).toHaveLength(2);
  });

  test('are replaced by the newer copy', async () => {
    const { check, clock } = policyWith([{ status: 200, text: RULES }, { status: 404 }]);
    check(URL_A);
    await clock.advance(DAY_MS);
    expect(check(`${ORIGIN}/private/`)).not.toBe('allowed');
    await settle();
    expect(check(`${ORIGIN}/private/`)).toBe('allowed');
  });

  test('hold on while the newer copy is out of reach, for longer than stallSecs, and are asked for with patience', async () => {
    const { check, clock, fetched, events, policy } = policyWith([{ status: 200, text: RULES }, { status: 503 }]);
    check(URL_A);
    await clock.advance(DAY_MS);
    for (let second = 0; second < 2_000; second++) {
      expect(check(URL_A)).toBe('allowed');
      await clock.advance(SECOND_MS);
    }
    expect(policy.givenUp('pond.example')).toBeNull();
    expect(fetched.length).toBeGreaterThan(20);
    expect(fetched.length).toBeLessThan(60);
    expect(events.at(-1)?.reason).toContain('the rules last known hold, next try in 60 s');
  });
});

describe('copies kept in the store', () => {
  const wallMs = new FakeClock().wallMs();
  const copyOf = (ageMs: number, text = RULES) =>
    memoryStore({ [`robots:${ORIGIN}`]: { fetchedAtMs: wallMs - ageMs, text } });

  test('spare the fetch after a restart while they are fresh, and are replaced in time', async () => {
    const store = copyOf(DAY_MS - HOUR_MS);
    const { check, clock, fetched, events, policy } = policyWith([{ status: 404 }], { store });
    await policy.whenKnown(URL_A);
    expect([check(`${ORIGIN}/private/`), fetched.length]).toEqual([{ disallowed: 'Disallow: /private/' }, 0]);
    expect(events[0]?.reason).toContain('robots.txt, fetched 23.0 h ago, has 1 rule for us');
    await clock.advance(HOUR_MS);
    check(URL_A);
    await settle();
    expect([check(`${ORIGIN}/private/`), fetched.length]).toEqual(['allowed', 1]);
    expect(JSON.parse(store.values.get(`robots:${ORIGIN}`)!)).toEqual({ fetchedAtMs: clock.wallMs(), text: '' });
  });

  test('that are older do not hold, unless the file is out of reach', async () => {
    const reachable = policyWith([{ status: 404 }], { store: copyOf(2 * DAY_MS) });
    await reachable.policy.whenKnown(URL_A);
    expect(reachable.check(`${ORIGIN}/private/`)).toBe('allowed');
    const outOfReach = policyWith([{ status: 503 }], { store: copyOf(2 * DAY_MS) });
    await outOfReach.policy.whenKnown(URL_A);
    expect(outOfReach.check(`${ORIGIN}/private/`)).toEqual({ disallowed: 'Disallow: /private/' });
    expect(outOfReach.check(URL_A)).toBe('allowed');
  });

  test.each([
    ['older than 30 days', 31 * DAY_MS],
    ['from the future', -HOUR_MS],
  ])('that are %s are no copies', async (_, ageMs) => {
    const { policy, check } = policyWith([{ status: 503 }], { store: copyOf(ageMs) });
    await policy.whenKnown(URL_A);
    expect(check(URL_A)).toBe('unknown');
  });

  test('that make no sense are no copies', async () => {
    const store = memoryStore({ [`robots:${ORIGIN}`]: { text: 5 } });
    const { policy, check, fetched } = policyWith([{ status: 200, text: RULES }], { store });
    await policy.whenKnown(URL_A);
    expect([check(URL_A), fetched.length]).toEqual(['allowed', 1]);
  });

  test('are made of what was fetched, at most 500 KiB of it, and not of what could not be', async () => {
    const store = memoryStore();
    const text = `${RULES}\n${'#\n'.repeat(400 * 1024)}`;
    const { policy } = policyWith([{ status: 200, text }], { store });
    await policy.whenKnown(URL_A);
    const copy = JSON.parse(store.values.get(`robots:${ORIGIN}`)!) as { text: string };
    expect(copy.text.startsWith(RULES)).toBe(true);
    expect(copy.text.length).toBeLessThanOrEqual(500 * 1024);
    const empty = memoryStore();
    await policyWith([{ status: 503 }], { store: empty }).policy.whenKnown(URL_A);
    expect(empty.values.size).toBe(0);
  });

  test('are done without when the store fails, and that is said', async () => {
    const store = {
      get: () => Promise.reject(new Error('disk gone')),
      set: () => Promise.reject(new Error('disk full')),
    };
    const { policy, check, events } = policyWith([{ status: 200, text: RULES }], { store });
    await policy.whenKnown(URL_A);
    expect(check(URL_A)).toBe('allowed');
    expect(events.map(({ reason }) => reason)).toEqual([
      'the copy of its robots.txt cannot be read: disk gone',
      'no copy of its robots.txt can be kept: disk full',
      'robots.txt has 1 rule for us, and asks for 2 s between requests',
    ]);
  });
});

describe('closing', () => {
  test('lets everybody go, ends the fetches and begins no more', async () => {
    let signalSeen: AbortSignal | undefined;
    const fetchText: FetchText = (_, signal) => {
      signalSeen = signal;
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const { policy, check, clock, fetched } = policyWith([], { fetchText });
    const waiting = policy.whenKnown(URL_A);
    await settle();
    policy.close();
    policy.close();
    await waiting;
    expect(signalSeen?.aborted).toBe(true);
    await policy.whenKnown('https://lake.example/a');
    expect(check(URL_A)).toBe('unknown');
    await clock.advance(HOUR_MS);
    expect(fetched).toEqual([]);
  });

  test('ends the waiting between two tries', async () => {
    const { policy, check, clock, fetched } = policyWith([{ status: 503 }]);
    check(URL_A);
    await clock.advance(500);
    policy.close();
    await clock.advance(HOUR_MS);
    expect(fetched).toHaveLength(1);
  });
});

describe('a URL', () => {
  test.each([
    ['https://a.example/b?c#d', 'https://a.example', '/b?c'],
    ['https://a.example', 'https://a.example', '/'],
    ['https://a.example?b', 'https://a.example', '/?b'],
    ['https://A.example/B', 'https://a.example', '/B'],
    ['http://a.example:80/b', 'http://a.example', '/b'],
    ['https://a.example:443/', 'https://a.example', '/'],
    ['http://a.example:443/', 'http://a.example:443', '/'],
    ['http://127.0.0.1:8080/b', 'http://127.0.0.1:8080', '/b'],
    ['http://[::1]:8080/b', 'http://[::1]:8080', '/b'],
    ['https://me:secret@a.example/b', 'https://a.example', '/b'],
    ['https://bücher.example/ü', 'https://xn--bcher-kva.example', '/%C3%BC'],
  ])('%s is of %s and has the path %s', (url, origin, path) => {
    expect(splitUrl(url)).toEqual({ origin, path });
  });
});

describe('over real sockets', () => {
  const servers: Server[] = [];

  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  async function serve(answer: (path: string) => { status: number; location?: string; body?: string }) {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      const { status, location, body } = answer(request.url ?? '');
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
  }

  const fetchText: FetchText = async (url, signal) => {
    const response = await fetch(url, { signal, redirect: 'manual' });
    return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
  };

  test('a file behind a redirect to another server, in another encoding of lines, is fetched once and obeyed', async () => {
    const lake = await serve(() => ({ status: 200, body: '\uFEFFUSER-AGENT: otter\rDISALLOW: /private' }));
    const pond = await serve(() => ({ status: 308, location: `${lake.origin}/robots.txt` }));
    const policy = createRobotsPolicy({ fetchText, clock: systemClock, productToken: 'otter', stallSecsOf: () => 900 });
    await Promise.all(Array.from({ length: 50 }, (_, index) => policy.whenKnown(`${pond.origin}/${index}`)));
    expect(policy.check(`${pond.origin}/private/1`, 0)).toEqual({ disallowed: 'DISALLOW: /private' });
    expect(policy.check(`${pond.origin}/open`, 0)).toBe('allowed');
    expect([pond.paths, lake.paths]).toEqual([['/robots.txt'], ['/robots.txt']]);
    policy.close();
  });
});
