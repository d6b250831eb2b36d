import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

/** What the tests use of playwright-core, which is installed for tests alone. */
export type Page = {
  on(event: 'console' | 'pageerror' | 'request', listener: (what: { text?(): string; url?(): string }) => void): void;
  goto(url: string): Promise<unknown>;
  evaluate<Result>(script: string): Promise<Result>;
  focus(selector: string): Promise<void>;
  hover(selector: string): Promise<void>;
  textContent(selector: string): Promise<string | null>;
  screenshot(options: { path: string; fullPage: boolean }): Promise<unknown>;
  keyboard: { press(key: string): Promise<void> };
  close(): Promise<void>;
};
type ChromiumBrowser = {
  newPage(options: { viewport: { width: number; height: number }; colorScheme: 'light' | 'dark' }): Promise<Page>;
  close(): Promise<void>;
};
type Playwright = {
  chromium: { launch(options: { executablePath: string; args: string[] }): Promise<ChromiumBrowser> };
};

const CHROMIUM = '/usr/bin/chromium';

/** With CI=true a missing browser is a failure, not a reason to skip. */
export const hasNoBrowser = !existsSync(CHROMIUM) && process.env.CI !== 'true';

/** A page, with what its browser had to complain of. */
export type WatchedPage = { page: Page; complaints: string[] };

/** Debian's chromium. */
export class Browser {
  readonly #browser: ChromiumBrowser;

  private constructor(browser: ChromiumBrowser) {
    this.#browser = browser;
  }

  static async launch(): Promise<Browser> {
    const require = createRequire(new URL('../../tools/package.json', import.meta.url));
    const { chromium } = require('playwright-core') as Playwright;
    const args = ['--no-sandbox', '--disable-quic', '--disable-background-networking'];
    return new Browser(await chromium.launch({ executablePath: CHROMIUM, args }));
  }

  /** Complaints: errors, whatever is written to the console, and requests to anywhere but below `url`. */
  async open(url: string, { width = 1_200, height = 800, dark = false } = {}): Promise<WatchedPage> {
    const complaints: string[] = [];
    const page = await this.#browser.newPage({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
    });
    page.on('console', (message) => complaints.push(message.text?.() ?? ''));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      const asked = request.url?.() ?? '';
      if (!asked.startsWith(url) && !asked.startsWith('data:')) complaints.push(`asked for ${asked}`);
    });
    await page.goto(url);
    return { page, complaints };
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}

export const BACKGROUND = 'getComputedStyle(document.body).backgroundColor';
export const PAGE_WIDTH = 'document.documentElement.scrollWidth';

const LOOK_EVERY_MS = 50;

/** Waits until the script is true in the page; the page's own policy would not let playwright wait within it. */
export async function until(page: Page, script: string): Promise<void> {
  while (!(await page.evaluate<boolean>(script))) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}
