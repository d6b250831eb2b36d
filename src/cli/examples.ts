import type { CommandName } from './options.ts';

/** What one would type, and what it is for. */
export type Example = { command: string; does: string };

/** Of each command, for --help and docs/configuration.md. A test runs them all. */
export const EXAMPLES: Record<CommandName, readonly Example[]> = {
  crawl: [
    { command: 'millrace crawl urls.txt --requests-per-second 20', does: 'a list, at most 20 requests/s to each host' },
    {
      command: 'millrace crawl products.csv --url-column link --output products.csv.gz',
      does: 'a column of a table, records to one file',
    },
    {
      command: "millrace crawl https://api.example.com/items/1 --header 'Accept: application/json'",
      does: 'one URL, with a header',
    },
    { command: 'millrace crawl crawl.yaml --sample 1', does: 'an API, only the first page of each resource' },
    { command: 'millrace crawl --run nightly', does: 'continue the run "nightly"' },
  ],
  export: [
    { command: 'millrace export --run nightly --output items.csv --csv-bom', does: 'for Excel' },
    {
      command: 'millrace export --run nightly --output - --format jsonl --limit 10',
      does: 'the first rows, to stdout',
    },
    { command: 'millrace export --run nightly --fields url,data.id --output ids.parquet', does: 'two columns' },
  ],
  status: [
    { command: 'millrace status --run nightly', does: 'also while it is crawled' },
    { command: 'millrace status --run nightly --json', does: 'for programs' },
  ],
  worker: [
    {
      command: 'millrace worker --run nightly --database postgresql://crawler@db.example.com/millrace',
      does: 'until the run is finished',
    },
  ],
  'retry-failed': [
    { command: 'millrace retry-failed --run nightly', does: 'all of them' },
    { command: 'millrace retry-failed --run nightly --code HTTP_503 --since 2h', does: 'only some' },
    { command: 'millrace retry-failed --run nightly --failures failed.jsonl', does: 'write them to a list instead' },
  ],
  revalidate: [
    {
      command: 'millrace revalidate --run shop --input crawl.yaml',
      does: 'by the schemas in the document as it is now',
    },
  ],
  recover: [
    {
      command: 'millrace recover --run nightly --to nightly-mended',
      does: 'then crawl the new run with the same input',
    },
  ],
  init: [
    { command: 'millrace init openapi.yaml --output shop.yaml', does: 'from an OpenAPI document' },
    {
      command: "millrace init 'https://api.example.com/products?limit=100' > products.yaml",
      does: 'from what one URL answers',
    },
  ],
  validate: [{ command: 'millrace validate crawl.yaml', does: 'every problem with its line' }],
  probe: [
    { command: 'millrace probe https://api.example.com/items/1', does: 'one request, phase by phase' },
    { command: 'millrace probe https://api.example.com/items/1 --rate 200 --save frankfurt.json', does: 'and keep it' },
    { command: 'millrace probe --compare frankfurt.json virginia.json', does: 'places side by side' },
    { command: 'millrace probe', does: 'check Node, storage, DNS, proxies, clock, limits' },
  ],
  ramp: [
    { command: 'millrace ramp https://api.example.com/items/1 --max-rate 20', does: 'ask before it sends' },
    { command: 'millrace ramp https://api.example.com/items/1 --max-rate 20 --yes --json', does: 'in a script' },
  ],
  bench: [
    {
      command: 'millrace bench https://api.example.com/items/1 --concurrency 20 --requests 500',
      does: 'as many users, each waiting for its answer',
    },
    { command: 'millrace bench https://api.example.com/items/1 --rate 100 --requests 300', does: 'at a fixed rate' },
    {
      command: 'millrace bench https://api.example.com/items/1 --requests 300 --compare concurrency=5',
      does: 'two settings in turns',
    },
  ],
  'practice-api': [
    { command: 'millrace practice-api --port 8080 --rate-limit 50 --error-rate 0.01', does: 'until Ctrl-C' },
  ],
};

/** @returns lines of "command   what it does", the second on a line of its own where the first is long */
export function exampleLines(examples: readonly Example[]): string[] {
  return examples.flatMap(({ command, does }) =>
    command.length < LONGEST_COMMAND
      ? [`  ${command.padEnd(LONGEST_COMMAND)} ${does}`]
      : [`  ${command}`, `${' '.repeat(LONGEST_COMMAND + 3)}${does}`],
  );
}

const LONGEST_COMMAND = 46;
