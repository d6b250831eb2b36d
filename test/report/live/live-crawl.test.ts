import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LiveCrawls } from '../support/live-crawls.ts';

const SECRET = 's3cret-credential-of-mine';

describe('the live page of a crawl', () => {
  let crawls: LiveCrawls;

  beforeAll(async () => {
    crawls = await LiveCrawls.open();
  });
  afterEach(() => crawls.stop());
  afterAll(() => crawls.close());

  test('is for this machine only, and has no credential in it', async () => {
    const url = await crawls.watch([
      ...['--header', `Authorization: Bearer ${SECRET}`, '--header', `X-Api-Key: ${SECRET}`],
      ...['--contact', 'me@example.com', `${crawls.server.url}/items/1?api_key=${SECRET}`],
    ]);
    expect(new URL(url).hostname).toBe('127.0.0.1');
    const page = await (await fetch(url)).text();
    const events = (await fetch(new URL('events', url))).body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('event: message')) text += (await events.read()).value;
    await events.cancel();
    for (const shown of [page, text]) {
      expect(shown).toContain('maxConcurrency');
      expect(shown).toContain('me@example.com');
      expect(shown).not.toContain(SECRET);
    }
  });

  test('is closed with the crawl, and a reader gets the finished report first', async () => {
    const url = await crawls.watch(['--max-requests', '60']);
    const events = await (await fetch(new URL('events', url))).text();
    expect(events).toContain(
      'event: end\ndata: The crawl has ended. This page stays as report.html in the folder of run "default".',
    );
    const [last] = events.split('event: end');
    const report = await readFile(join(crawls.place.storage, 'runs/default/report.html'), 'utf8');
    const shown = last!.slice(last!.lastIndexOf('event: message')).replaceAll(/^data: /gm, '');
    expect(report).toContain(shown.slice(shown.indexOf('<header>'), shown.indexOf('</header>')));
    expect((await crawls.current.finished).code).toBe(3);
    await expect(fetch(url)).rejects.toThrow();
  });

  test('a port that is taken ends it before anything is sent', async () => {
    const before = await crawls.server.stats();
    const taken = new URL(crawls.server.url).port;
    const { code, stderr } = await crawls.place.run(['urls.txt', '--run', 'other', '--ui', taken]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      `millrace: --ui: port ${taken} of 127.0.0.1 is taken by another program. Give another one, or none: --ui alone takes a free one.\n`,
    );
    expect(await crawls.server.stats()).toEqual(before);
  });
});
