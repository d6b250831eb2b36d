// A crawl that kills its own process inside a handler. Arguments: storage folder, server, and flags: kill-once,
// kill-always, exit-always, memory-always, many.
import { LogLevel, log } from '@crawlee/core';
import { createJsonCrawler } from '../../../src/index.ts';

const [storageDir, url, ...flags] = process.argv.slice(2);
log.setLevel(LogLevel.OFF);

function die(): void {
  if (flags.includes('exit-always')) process.exit(7);
  if (flags.includes('kill-once') || flags.includes('kill-always')) process.kill(process.pid, 'SIGKILL');
  const hoard: number[][] = [];
  while (flags.includes('memory-always')) hoard.push(Array.from({ length: 10_000 }, (_, index) => index));
}

const crawler = await createJsonCrawler({
  storageDir: storageDir!,
  run: 'killed',
  respectRobotsTxtFile: false,
  maxConcurrency: flags.includes('many') ? 20 : 1,
  async requestHandler({ request, pushData, addRequests, useState }) {
    const { pathname } = new URL(request.url);
    const state = await useState({ handled: 0 });
    state.handled += 1;
    await pushData({ path: pathname });
    if (pathname !== '/kill') return;
    if (!flags.includes('many')) await addRequests([`${url}/found`]);
    // Long enough for what was written to be on disk, if it were written at all.
    await new Promise((resolve) => setTimeout(resolve, 100));
    die();
  },
});
const others = flags.includes('many') ? Array.from({ length: 300 }, (_, index) => `${url}/${index}`) : [];
await crawler.run([`${url}/first`, `${url}/kill`, ...others]);
await crawler.close();
