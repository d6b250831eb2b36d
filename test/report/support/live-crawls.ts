import { type Started, urlList, Workplace } from '../../e2e/millrace.ts';
import { type ServerProcess, serveInProcess } from '../../fixtures/servers/in-process.ts';

// More than any test waits for: each crawl is stopped by its test.
const URLS = 20_000;

/** Crawls that are watched while they go on, one at a time, of a server that takes 20 ms. */
export class LiveCrawls {
  readonly place: Workplace;
  readonly server: ServerProcess;
  #crawl: Started | null = null;

  private constructor(place: Workplace, server: ServerProcess) {
    this.place = place;
    this.server = server;
  }

  static async open(): Promise<LiveCrawls> {
    const place = await Workplace.open();
    const server = await serveInProcess({ json: { latencyMs: 20 } });
    await place.write('urls.txt', urlList(server.url, URLS));
    return new LiveCrawls(place, server);
  }

  /** Starts a crawl at 50 requests/s. @returns where it says that it can be watched */
  async watch(args: readonly string[] = []): Promise<string> {
    await this.stop();
    const fixed = ['urls.txt', '--fresh', '--ignore-robots', '--requests-per-second', '50', '--ui'];
    const started = this.place.start([...fixed, ...args]);
    this.#crawl = started;
    return new Promise((resolve, reject) => {
      let text = '';
      started.child.stderr?.on('data', (chunk) => {
        text += chunk;
        const url = /Watch the crawl at (\S+)\s/.exec(text)?.[1];
        if (url !== undefined) resolve(url);
      });
      started.finished.then(({ stderr }) => reject(new Error(`It has ended: ${stderr}`)), reject);
    });
  }

  get current(): Started {
    if (this.#crawl === null) throw new Error('No crawl is under way');
    return this.#crawl;
  }

  async stop(): Promise<void> {
    this.#crawl?.child.kill('SIGINT');
    await this.#crawl?.finished;
    this.#crawl = null;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.server.close();
    await this.place.remove();
  }
}
