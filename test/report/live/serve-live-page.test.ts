import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { type LivePage, type LivePageOptions, serveLivePage } from '../../../src/report/live/serve-live-page.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { sampleData } from '../html/sample-data.ts';

const data = await sampleData({ minutes: 1 });
const open: LivePage[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((page) => page.close()));
});

async function served(clock: Clock, changes: Partial<LivePageOptions> = {}): Promise<LivePage> {
  const page = await serveLivePage({ address: '127.0.0.1', port: 0, ports: { clock, log: silentLog }, ...changes });
  open.push(page);
  return page;
}

function named(run: string): ReportData {
  return { ...data, summary: { ...data.summary, run } };
}

/** The status and headers of an answer to a request with that Host header. */
async function asked(url: string, host: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { headers: { host } }), 'response')) as [IncomingMessage];
  response.resume();
  return response;
}

/** Who looks at the page: each event as it comes. */
async function reader(
  page: LivePage,
): Promise<{ next: (pattern: RegExp) => Promise<string>; ended: () => Promise<void> }> {
  const response = await fetch(new URL('events', page.url));
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const chunks = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    next: async (pattern) => {
      for (;;) {
        const found = pattern.exec(text);
        if (found !== null) {
          text = text.slice(found.index + found[0].length);
          return found[0];
        }
        const { value, done } = await chunks.read();
        if (done) throw new Error(`The events ended without ${pattern}`);
        text += value;
      }
    },
    ended: async () => {
      while (!(await chunks.read()).done);
    },
  };
}

test('whoever asks before the crawl has begun gets the page once it has', async () => {
  const page = await served(new FakeClock());
  const answer = fetch(page.url);
  page.watch(async () => named('nightly'));
  const response = await answer;
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('content-security-policy')).toBe("frame-ancestors 'none'");
  const text = await response.text();
  expect(text).toContain('data-live="/events"');
  expect(text).toMatch(/connect-src &#39;self&#39;/);
  expect(text).toContain('<h1>nightly ');
});

test('a reader is told of the crawl as it goes on, once a second, and nothing is drawn without one', async () => {
  const clock = new FakeClock();
  const page = await served(clock);
  let draws = 0;
  page.watch(async () => named(`draw ${++draws}`));
  await clock.advance(10_000);
  expect(draws).toBe(0);
  const { next } = await reader(page);
  await clock.advance(0);
  await next(/event: message\n(data: .*\n)*data: <h1>draw 1 /);
  await clock.advance(1_000);
  await next(/<h1>draw 2 /);
  await clock.advance(1_000);
  await next(/<h1>draw 3 /);
  expect(draws).toBe(3);
});

test('a reader who waited for the crawl to begin is told of it once a second all the same', async () => {
  const clock = new FakeClock();
  const page = await served(clock);
  const { next } = await reader(page);
  await clock.advance(60_000);
  let draws = 0;
  page.watch(async () => named(`draw ${++draws}`));
  await next(/<h1>draw 1 /);
  await clock.advance(1_000);
  await next(/<h1>draw 2 /);
});

test('a page that is costly to draw is drawn less often', async () => {
  const clock = new FakeClock();
  let workedMs = 0;
  const page = await served({
    nowMs: () => clock.nowMs() + workedMs,
    wallMs: () => clock.wallMs(),
    schedule: (delayMs, action) => clock.schedule(delayMs, action),
    sleep: (delayMs, signal) => clock.sleep(delayMs, signal),
  });
  let draws = 0;
  page.watch(async () => {
    workedMs += 200;
    return named(`draw ${++draws}`);
  });
  const { next } = await reader(page);
  await clock.advance(0);
  await next(/<h1>draw 1 /);
  await clock.advance(3_900);
  expect(draws).toBe(1);
  await clock.advance(100);
  await next(/<h1>draw 2 /);
});

test('at the end readers get the last contents and the farewell, and the connection ends', async () => {
  const clock = new FakeClock();
  const page = await served(clock);
  page.watch(async () => named('running'));
  const { next, ended } = await reader(page);
  await clock.advance(0);
  await next(/<h1>running /);
  await page.end(named('done'), 'It is over.\nReally.');
  await next(/<h1>done /);
  await next(/event: end\ndata: It is over.\ndata: Really.\n\n/);
  await ended();
});

test('closing it breaks the connections of who still looks', async () => {
  const page = await served(new FakeClock());
  page.watch(async () => data);
  const { ended } = await reader(page);
  await open.pop()!.close();
  await expect(ended()).rejects.toThrow();
  await expect(fetch(page.url)).rejects.toThrow();
});

test('a name that anybody may have pointed here is refused, for the page and for its events', async () => {
  const page = await served(new FakeClock(), { hostNames: ['crawler.internal'] });
  page.watch(async () => data);
  const statuses = async (host: string): Promise<(number | undefined)[]> =>
    Promise.all(['', 'events'].map(async (path) => (await asked(`${page.url}${path}`, host)).statusCode));
  expect(await statuses('evil.example')).toEqual([421, 421]);
  expect((await asked(page.url, 'crawler.internal')).statusCode).toBe(200);
  expect((await asked(page.url, 'localhost:1234')).statusCode).toBe(200);
});

test('nothing but the page can be asked for, and nothing can be sent to it', async () => {
  const page = await served(new FakeClock());
  page.watch(async () => data);
  expect((await fetch(new URL('etc/passwd', page.url))).status).toBe(404);
  expect((await fetch(page.url, { method: 'POST', body: 'x' })).status).toBe(405);
});

test('a failure to draw is told, and a later drawing may succeed', async () => {
  const page = await served(new FakeClock());
  let isBroken = true;
  page.watch(async () => {
    if (isBroken) throw new Error('no store');
    return data;
  });
  expect((await fetch(page.url)).status).toBe(500);
  isBroken = false;
  expect((await fetch(page.url)).status).toBe(200);
});

test('a port that is taken is named, with what to do', async () => {
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  const address = blocker.address();
  const port = typeof address === 'object' ? address!.port : 0;
  await expect(served(new FakeClock(), { port })).rejects.toThrow(
    `--ui: port ${port} of 127.0.0.1 is taken by another program. Give another one, or none: --ui alone takes a free one.`,
  );
  blocker.close();
});

test('an address of another machine cannot be listened on', async () => {
  await expect(served(new FakeClock(), { address: '192.0.2.1' })).rejects.toThrow(
    '--ui: 192.0.2.1 cannot be listened on: ',
  );
});
