import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderReport } from '../../../src/report/html/page.ts';
import { BACKGROUND, Browser, hasNoBrowser, PAGE_WIDTH, type WatchedPage } from '../support/browser.ts';
import { sampleData } from './sample-data.ts';

describe.skipIf(hasNoBrowser)('the report in a browser (Debian: chromium)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-report-'));
  let browser: Browser;

  beforeAll(async () => {
    browser = await Browser.launch();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  async function open(html: string, look: { width?: number; dark?: boolean } = {}): Promise<WatchedPage> {
    const file = join(folder, 'report.html');
    writeFileSync(file, html);
    return browser.open(pathToFileURL(file).href, look);
  }

  test.each([
    [1_200, false],
    [1_200, true],
    [360, false],
    [360, true],
  ])('at %i px, dark %s: nothing sticks out, nothing complains, nothing is fetched', async (width, dark) => {
    const { page, complaints } = await open(renderReport(await sampleData({ minutes: 3 })), { width, dark });
    await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
    expect(await page.evaluate<number>(PAGE_WIDTH)).toBe(width);
    expect(await page.evaluate<string>(BACKGROUND)).toBe(dark ? 'rgb(20, 22, 26)' : 'rgb(247, 247, 244)');
    expect(await page.evaluate<number>("document.querySelectorAll('.chart polyline').length")).toBeGreaterThan(6);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('that of a crawl of a million requests opens at once', async () => {
    const data = await sampleData({ minutes: 150 });
    expect(data.summary.requests.total).toBeGreaterThan(1_000_000);
    const { page } = await open(renderReport(data));
    const loaded = await page.evaluate<number>("performance.getEntriesByType('navigation')[0].loadEventEnd");
    // Below a second on a machine of its own; other tests may share this one.
    expect(loaded).toBeGreaterThan(0);
    expect(loaded).toBeLessThan(3_000);
    await page.close();
  });

  test('the values of a chart are told by arrow keys and by the mouse', async () => {
    const { page } = await open(renderReport(await sampleData({ minutes: 2, hosts: 1 })));
    await page.focus('#throughput-chart .field');
    await page.keyboard.press('Home');
    expect(await page.textContent('#throughput-chart .tip')).toMatch(/^0 s · all requests 0\/s/);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await page.textContent('#throughput-chart .tip')).toMatch(/^2 s · all requests 4\/s/);
    await page.keyboard.press('End');
    expect(await page.textContent('#throughput-chart .tip')).toMatch(/^1:59 · /);
    await page.hover('#latency-chart .field');
    expect(await page.textContent('#latency-chart .tip')).toMatch(
      /^(59 s|1:00) · p50 \d+ ms · p95 \d+ ms · p99 \d+ ms$/,
    );
    await page.close();
  });

  test('everything that can be used is reached by the tab key', async () => {
    const { page } = await open(renderReport(await sampleData({ minutes: 1 })));
    const wanted = await page.evaluate<number>(
      "document.querySelectorAll('.field, summary, .scroll:not(details *)').length",
    );
    const reached = new Set<string>();
    for (let press = 0; press < wanted + 5; press++) {
      await page.keyboard.press('Tab');
      const where =
        "document.activeElement === document.body ? '' : [...document.querySelectorAll('*')].indexOf(document.activeElement)";
      reached.add(String(await page.evaluate(where)));
    }
    reached.delete('');
    expect(reached.size).toBe(wanted);
    await page.close();
  });

  test('hostile text from an API is shown and not run', async () => {
    const { page, complaints } = await open(renderReport(await sampleData({ minutes: 1, extra: true })));
    expect(await page.evaluate('globalThis.wasRun')).toBeUndefined();
    expect(await page.textContent('h1')).toContain('<img src=x onerror');
    expect(complaints).toEqual([]);
    await page.close();
  });
});
