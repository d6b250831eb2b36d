import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderMain, renderReport } from '../../../src/report/html/page.ts';
import { sampleData } from './sample-data.ts';

type Page = {
  on(event: 'console' | 'pageerror' | 'request', listener: (what: { text?(): string; url?(): string }) => void): void;
  goto(url: string): Promise<unknown>;
  evaluate<Result>(script: string): Promise<Result>;
  focus(selector: string): Promise<void>;
  hover(selector: string): Promise<void>;
  textContent(selector: string): Promise<string | null>;
  waitForFunction(script: string): Promise<unknown>;
  screenshot(options: { path: string; fullPage: boolean }): Promise<unknown>;
  keyboard: { press(key: string): Promise<void> };
  close(): Promise<void>;
};
type Browser = {
  newPage(options: { viewport: { width: number; height: number }; colorScheme: 'light' | 'dark' }): Promise<Page>;
  close(): Promise<void>;
};
type Playwright = { chromium: { launch(options: { executablePath: string; args: string[] }): Promise<Browser> } };

const CHROMIUM = '/usr/bin/chromium';
// With CI=true a missing browser is a failure, not a reason to skip.
const isSkipped = !existsSync(CHROMIUM) && process.env.CI !== 'true';

describe.skipIf(isSkipped)('the report in a browser (Debian: chromium)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-report-'));
  let browser: Browser;
  let complaints: string[];

  beforeAll(async () => {
    const require = createRequire(new URL('../../tools/package.json', import.meta.url));
    const { chromium } = require('playwright-core') as Playwright;
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-quic', '--disable-background-networking'],
    });
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  async function open(html: string, { width = 1_200, dark = false } = {}): Promise<Page> {
    const file = join(folder, 'report.html');
    writeFileSync(file, html);
    return openUrl(pathToFileURL(file).href, { width, dark });
  }

  async function openUrl(url: string, { width = 1_200, dark = false } = {}): Promise<Page> {
    complaints = [];
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: dark ? 'dark' : 'light' });
    page.on('console', (message) => complaints.push(message.text?.() ?? ''));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (!request.url?.().startsWith(url) && !request.url?.().startsWith('data:'))
        complaints.push(`asked for ${request.url?.()}`);
    });
    await page.goto(url);
    return page;
  }

  test.each([
    [1_200, false],
    [1_200, true],
    [360, false],
    [360, true],
  ])('at %i px, dark %s: nothing sticks out, nothing complains, nothing is fetched', async (width, dark) => {
    const page = await open(renderReport(await sampleData({ minutes: 3 })), { width, dark });
    await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
    expect(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')).toBe(
      dark ? 'rgb(20, 22, 26)' : 'rgb(247, 247, 244)',
    );
    expect(await page.evaluate<number>("document.querySelectorAll('.chart polyline').length")).toBeGreaterThan(6);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('the values of a chart are told by arrow keys and by the mouse', async () => {
    const page = await open(renderReport(await sampleData({ minutes: 2, hosts: 1 })));
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
    const page = await open(renderReport(await sampleData({ minutes: 1 })));
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
    const page = await open(renderReport(await sampleData({ minutes: 1, extra: true })));
    expect(await page.evaluate('globalThis.wasRun')).toBeUndefined();
    expect(await page.textContent('h1')).toContain('<img src=x onerror');
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('a watched page takes new contents, and keeps what is open and where the reader is', async () => {
    const data = await sampleData({ minutes: 1 });
    const later = { ...data, summary: { ...data.summary, run: 'later' } };
    const server = createServer((request, response) => {
      if (request.url !== '/events') return response.end(renderReport(data, { liveUrl: '/events' }));
      response.setHeader('content-type', 'text/event-stream');
      setTimeout(() => response.write(`data: ${renderMain(later).replaceAll('\n', '\ndata: ')}\n\n`), 300);
      return undefined;
    });
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const page = await openUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.evaluate("document.getElementById('time-table').open = true");
    await page.focus('#latency-chart .field');
    await page.waitForFunction("document.querySelector('h1').textContent.startsWith('later')");
    expect(await page.evaluate("document.getElementById('time-table').open")).toBe(true);
    expect(await page.evaluate("document.activeElement.closest('.chart').id")).toBe('latency-chart');
    expect(await page.textContent('#latency-chart .tip')).toMatch(/p50/);
    expect(complaints).toEqual([]);
    await page.close();
    server.closeAllConnections();
    server.close();
  });
});
