import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BACKGROUND, Browser, hasNoBrowser, PAGE_WIDTH, until } from '../support/browser.ts';
import { LiveCrawls } from '../support/live-crawls.ts';

describe.skipIf(hasNoBrowser)('the live page in a browser (Debian: chromium)', () => {
  let crawls: LiveCrawls;
  let browser: Browser;

  beforeAll(async () => {
    [crawls, browser] = await Promise.all([LiveCrawls.open(), Browser.launch()]);
  });
  afterEach(() => crawls.stop());
  afterAll(async () => {
    await browser.close();
    await crawls.close();
  });

  test.each([
    [1_200, false],
    [360, true],
  ])('at %i px, dark %s: it goes on by itself, nothing sticks out, nothing complains', async (width, dark) => {
    const { page, complaints } = await browser.open(await crawls.watch(), { width, dark });
    await until(page, "document.getElementById('live').textContent === 'Live'");
    const done = "Number(document.querySelector('.tile dd').firstChild.data.replaceAll(',', ''))";
    const first = await page.evaluate<number>(done);
    await until(page, `${done} > ${first + 100}`);
    await until(page, "document.querySelectorAll('#throughput-chart polyline').length > 0");
    expect(await page.evaluate<string>("document.querySelector('.state').textContent")).toBe('running');
    expect(await page.evaluate<string>(BACKGROUND)).toBe(dark ? 'rgb(20, 22, 26)' : 'rgb(247, 247, 244)');
    expect(await page.evaluate<number>(PAGE_WIDTH)).toBe(width);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('new contents leave the reader where they are: focus, what is open, scrolling, the cursor of a chart', async () => {
    const { page, complaints } = await browser.open(await crawls.watch());
    await until(page, "JSON.parse(document.getElementById('throughput-chart')?.dataset.points ?? '[]').length > 2");
    await page.evaluate("document.getElementById('config-text').open = true");
    await page.focus('#throughput-chart .field');
    await page.keyboard.press('Home');
    await page.evaluate('scrollTo(0, 150)');
    const requests = "document.querySelector('.tile dd').textContent";
    const before = await page.evaluate<string>(requests);
    await until(page, `${requests} !== ${JSON.stringify(before)}`);
    expect(await page.evaluate("document.activeElement.closest('.chart').id")).toBe('throughput-chart');
    expect(await page.textContent('#throughput-chart .tip')).toMatch(/^0 s · /);
    expect(await page.evaluate("document.getElementById('config-text').open")).toBe(true);
    expect(await page.evaluate('scrollY')).toBe(150);
    await page.keyboard.press('Tab');
    const after = await page.evaluate<string>(requests);
    const focused = 'document.activeElement.outerHTML';
    const reached = await page.evaluate<string>(focused);
    await until(page, `${requests} !== ${JSON.stringify(after)}`);
    expect(await page.evaluate<string>(focused)).toBe(reached);
    expect(reached).not.toContain('<body');
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('it says that the crawl has ended, or that it is not heard of any more', async () => {
    const ended = await browser.open(await crawls.watch(['--max-requests', '100']));
    await until(ended.page, "document.getElementById('live').className === 'ended'");
    expect(await ended.page.textContent('#live')).toMatch(/^The crawl has ended\. /);
    expect(await ended.page.textContent('.state')).toBe('incomplete');
    expect(await ended.page.evaluate("document.querySelectorAll('.done').length")).toBe(0);
    await crawls.current.finished;
    expect(ended.complaints).toEqual([]);
    const killed = await browser.open(await crawls.watch());
    await until(killed.page, "document.getElementById('live').textContent === 'Live'");
    crawls.current.child.kill('SIGKILL');
    await until(killed.page, "document.getElementById('live').className === 'lost'");
    expect(await killed.page.textContent('#live')).toMatch(/^No connection to the crawl: /);
  });
});
