import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Browser } from '../test/report/support/browser.ts';

/**
 * Makes docs/images/report.png: the report page of a real crawl of three practice APIs, one far off, one that limits its
 * clients, one that is slow and fails now and then. Takes about half a minute: `node scripts/make-screenshot.ts`, with Debian's
 * chromium and `npm run tools`.
 */
const IMAGE = fileURLToPath(new URL('../docs/images/report.png', import.meta.url));
const BIN = fileURLToPath(new URL('../bin/millrace.mjs', import.meta.url));
const WIDTH = 1_200;
const HEIGHT = 1_210;
const APIS = [
  { port: 8081, urls: 4_000, options: ['--latency-ms', '120'] },
  { port: 8082, urls: 1_200, options: ['--latency-ms', '20', '--rate-limit', '50'] },
  { port: 8083, urls: 700, options: ['--latency-ms', '250', '--error-rate', '0.002'] },
];

const folder = await mkdtemp(join(tmpdir(), 'millrace-screenshot-'));
const apis: ChildProcess[] = [];
try {
  const lists = await Promise.all(APIS.map(startApi));
  // One host after the other in turns, as a list that people make would have them mixed.
  const lines = lists.flat().sort((a, b) => a.at - b.at);
  await writeFile(join(folder, 'products.txt'), lines.map(({ url }) => `${url}\n`).join(''));
  await crawl();
  await takePicture(pathToFileURL(join(folder, 'storage/runs/products/report.html')).href);
} finally {
  for (const api of apis) api.kill('SIGTERM');
  await rm(folder, { recursive: true, force: true });
}

async function startApi({ port, urls, options }: (typeof APIS)[number]): Promise<{ at: number; url: string }[]> {
  const child = spawn(process.execPath, [
    BIN,
    'practice-api',
    '--port',
    String(port),
    '--items',
    String(urls),
    ...options,
  ]);
  apis.push(child);
  const [line] = (await once(child.stderr, 'data')) as [Buffer];
  const origin = /http:\/\/[\d.:]+/.exec(line.toString())?.[0];
  if (origin === undefined) throw new Error(`No practice API: ${line}`);
  return Array.from({ length: urls }, (_, index) => ({ at: index / urls, url: `${origin}/products/${index + 1}` }));
}

async function crawl(): Promise<void> {
  const args = [
    'products.txt',
    '--run',
    'products',
    '--max-concurrency-per-host',
    '20',
    '--contact',
    'you@example.com',
  ];
  const child = spawn(process.execPath, [BIN, ...args], { cwd: folder, stdio: 'inherit' });
  await once(child, 'exit');
}

async function takePicture(url: string): Promise<void> {
  const browser = await Browser.launch();
  try {
    const { page, complaints } = await browser.open(url, { width: WIDTH, height: HEIGHT });
    if (complaints.length > 0) throw new Error(complaints.join('\n'));
    await page.screenshot({ path: IMAGE, fullPage: false });
  } finally {
    await browser.close();
  }
}
