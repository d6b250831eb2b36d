import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ROOT } from './blocks.ts';
import { practiceApiServer } from './practice-api.ts';

const BIN = join(ROOT, 'bin/millrace.mjs');
const EXAMPLE = /https:\/\/api\.example\.com(\/v1)?/g;
// As the pages name them; the practice API calls them otherwise.
const EXAMPLE_ITEMS = /\/items\/(?=\d)/g;

export type Ran = { code: number | null; output: string };

/** A folder with what the pages take for granted: lists, documents, a run; and the practice API as api.example.com. */
export class Workshop {
  readonly #folder: string;
  readonly #api: { url: string; close(): Promise<void> };

  private constructor(folder: string, api: { url: string; close(): Promise<void> }) {
    this.#folder = folder;
    this.#api = api;
  }

  static async open(): Promise<Workshop> {
    const api = await practiceApiServer();
    const workshop = new Workshop(await mkdtemp(join(tmpdir(), 'millrace-docs-')), api);
    await workshop.#writeCommands();
    await workshop.#writeFiles();
    const { code, output } = await workshop.run(PREPARATION);
    if (code !== 0) throw new Error(`The runs that the pages speak of cannot be made:\n${output}`);
    return workshop;
  }

  /** Runs shell commands as a reader would type them, one after the other, until one fails. */
  async run(commands: string): Promise<Ran> {
    const text = this.#local(commands);
    const child = spawn('bash', ['-euo', 'pipefail', '-c', text], {
      cwd: this.#folder,
      env: {
        ...process.env,
        PATH: [join(this.#folder, '.bin'), process.env.PATH].join(delimiter),
        API_TOKEN: 'practice-token',
        NO_COLOR: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  }

  async close(): Promise<void> {
    await this.#api.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #local(text: string): string {
    return text.replaceAll(EXAMPLE, this.#api.url).replaceAll(EXAMPLE_ITEMS, '/products/');
  }

  /** `npm start` and `npx millrace` as they are in the project, for a folder that is not the project. */
  async #writeCommands(): Promise<void> {
    const bin = join(this.#folder, '.bin');
    await mkdir(bin);
    const own = `exec '${process.execPath}' '${BIN}' "$@"`;
    const scripts = {
      millrace: own,
      npx: `[ "$1" = millrace ] || { echo "npx $1 is none of ours" >&2; exit 127; }\nshift\n${own}`,
      npm: `[ "$1" = start ] || { echo "npm $1 is not for a test" >&2; exit 127; }\nshift\n[ "\${1:-}" = -- ] && shift\n${own}`,
    };
    for (const [name, script] of Object.entries(scripts)) {
      await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
      await chmod(join(bin, name), 0o755);
    }
  }

  async #writeFiles(): Promise<void> {
    const urls = Array.from({ length: 12 }, (_, index) => `${this.#api.url}/products/${index + 1}`);
    const table = `id,link\n${urls.map((url, index) => `${index + 1},${url}`).join('\n')}\n`;
    const files = {
      'urls.txt': `${urls.join('\n')}\n`,
      'urls.csv': table,
      'products.csv': table,
      'crawl.yaml': DOCUMENT,
      'api.yaml': DOCUMENT,
      'openapi.yaml': OPENAPI,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(this.#folder, name), this.#local(text));
  }
}

const DOCUMENT = `api:
  baseUrl: https://api.example.com
  resources:
    - name: products
      primaryKey: id
      endpoint: {path: /products, params: {limit: 20}, dataSelector: "$.items[*]"}
`;

const OPENAPI = `openapi: 3.0.3
info: {title: Shop, version: "1"}
servers: [{url: https://api.example.com}]
paths:
  /products:
    get:
      parameters: [{name: limit, in: query, schema: {type: integer}}, {name: cursor, in: query, schema: {type: string}}]
      responses:
        "200":
          description: products
          content:
            application/json:
              schema:
                type: object
                properties:
                  items: {type: array, items: {type: object, properties: {id: {type: integer}, name: {type: string}}}}
                  next: {type: string, nullable: true}
`;

const PREPARATION = `
millrace urls.txt --run nightly --quiet
millrace crawl.yaml --run shop --quiet
millrace probe https://api.example.com/items/1 --keep-alive 0.1 --save virginia.json
millrace https://api.example.com/items/999999 --run broken --quiet || test $? -eq 3
`;
