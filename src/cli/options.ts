/** The commands there are; a word that is none of them is an INPUT of `crawl`. */
export const COMMAND_SUMMARIES = {
  crawl: 'Crawl URLs, a file of them, an input document, or the routes (the default command)',
  export: "Write a run's datasets to files",
  status: 'Show what a run has done and has left',
  worker: 'Work on a run that a crawl with --database has begun, as one of several',
  'retry-failed': "Put a run's failed requests back and crawl them",
  revalidate: 'Move records that fit a corrected schema out of dataset "invalid", without a request',
  recover: 'Make a new run of what can be read of a damaged one',
  init: 'Start an input document from an OpenAPI document, or from one URL',
  validate: 'Check an input document without a request',
  probe: "Measure what one request's time is made of; without a URL, check the set-up",
  ramp: "Find a host's limit by a slow ramp, and the settings that hold below it",
  bench: 'Benchmark a URL: rate, percentiles, share of what is possible',
  'practice-api': 'Serve the practice API, to try a crawl against',
} as const;

export type CommandName = keyof typeof COMMAND_SUMMARIES;

/**
 * One option. With `path` it sets that key of the command's schema, which then gives range, default and help text
 * ("hosts.*." = for every host); without, the command reads it by its name and `help` says what it does.
 */
export type OptionDefinition = {
  /** As commander has it: `--run <name>`, `--no-export`. */
  flags: string;
  group: string;
  path?: string;
  help?: string;
  /** What is typed, and how it becomes the schema's value; `text` when left out. seconds: the schema wants ms. */
  reads?: 'text' | 'number' | 'seconds' | 'header' | { constant: unknown };
  /** May be given more than once. */
  repeatable?: true;
  /** What follows is the option's value only where it looks like this: `--ui [port]`. */
  takes?: RegExp;
  /** The only values there are, for an option without `path`. */
  choices?: readonly string[];
};

const WHAT = 'What to crawl:';
const PACE = 'How fast:';
const RUN = 'The run:';
const OUTPUT = 'Results and messages:';
const BEHAVIOUR = 'How it behaves:';
const SETUP = 'Without a URL:';

const run = {
  flags: '--run <name>',
  group: RUN,
  help: 'Name of the run (default: "default"); its data lies in <storage>/runs/<name>',
} satisfies OptionDefinition;
const storageDir = {
  flags: '--storage-dir <folder>',
  group: RUN,
  help: 'Folder of all runs (default: CRAWLEE_STORAGE_DIR, or "storage")',
} satisfies OptionDefinition;
const database = {
  flags: '--database <url>',
  group: RUN,
  help: 'Keep the run on this PostgreSQL, where any number of workers share it (default: MILLRACE_DATABASE_URL); ?schema=NAME for another schema than millrace',
} satisfies OptionDefinition;
const output = {
  flags: '--output <file>',
  group: OUTPUT,
  repeatable: true,
  help: 'Write the records to this file instead, its name says how: .json, .jsonl, .ndjson, .csv, each also .gz, or .parquet. Repeatable. A .jsonl or .ndjson grows while the crawl goes on',
} satisfies OptionDefinition;
const csv = [
  {
    flags: '--csv-delimiter <character>',
    group: OUTPUT,
    help: 'Between the cells of a CSV, "\\t" for a tab (default: ,)',
  },
  { flags: '--csv-bom', group: OUTPUT, help: 'A byte order mark at the start of a CSV, for Excel' },
  {
    flags: '--csv-line-ending <lf|crlf>',
    group: OUTPUT,
    choices: ['lf', 'crlf'],
    help: 'At the end of a line of a CSV (default: lf)',
  },
  {
    flags: '--csv-escape-formulas',
    group: OUTPUT,
    help: "A ' before text of a CSV that a spreadsheet would run as a formula",
  },
] satisfies OptionDefinition[];
const force = {
  flags: '--force',
  group: OUTPUT,
  help: 'Replace an output file that this run has not written',
} satisfies OptionDefinition;
const messages = [
  { flags: '--quiet', group: OUTPUT, help: 'Only warnings and errors' },
  { flags: '--verbose', group: OUTPUT, help: 'Also details, and the stack of an error' },
  {
    flags: '--log-format <pretty|json>',
    group: OUTPUT,
    choices: ['pretty', 'json'],
    help: 'Log lines for people (pretty) or programs (json); default: pretty',
  },
] satisfies OptionDefinition[];

const pace: readonly OptionDefinition[] = [
  { flags: '--max-concurrency <count>', group: PACE, path: 'maxConcurrency', reads: 'number' },
  { flags: '--max-concurrency-per-host <count>', group: PACE, path: 'hosts.*.maxConcurrency', reads: 'number' },
  { flags: '--max-requests-per-minute <count>', group: PACE, path: 'maxRequestsPerMinute', reads: 'number' },
  { flags: '--requests-per-second <rate>', group: PACE, path: 'hosts.*.requestsPerSecond', reads: 'number' },
  { flags: '--headroom <share>', group: PACE, path: 'hosts.*.headroom', reads: 'number' },
  {
    flags: '--no-discovery',
    group: PACE,
    path: 'hosts.*.discovery',
    reads: { constant: 'off' },
    help: 'Start at the configured concurrency and rate at once, without looking for the limit of a host',
  },
  { flags: '--max-retries <count>', group: PACE, path: 'hosts.*.retry.maxRetries', reads: 'number' },
  { flags: '--timeout <seconds>', group: PACE, path: 'hosts.*.timeouts.totalMs', reads: 'seconds' },
  { flags: '--max-wait <seconds>', group: PACE, path: 'maxWaitSecs', reads: 'number' },
  { flags: '--http-client <undici|got-scraping>', group: PACE, path: 'httpClient' },
  {
    flags: '--no-http2',
    group: PACE,
    path: 'hosts.*.http2',
    reads: { constant: 'off' },
    help: 'HTTP/1.1 only',
  },
];

/** What is sent by a command that measures; `schema` names its settings. */
function measuredRequest(schema: 'probe' | 'ramp' | 'bench'): OptionDefinition[] {
  return [
    { flags: '--header <name: value>', group: WHAT, path: `${schema}.headers`, reads: 'header', repeatable: true },
    { flags: '--no-http2', group: WHAT, path: `${schema}.http2`, reads: { constant: 'off' }, help: 'HTTP/1.1 only' },
    { flags: '--timeout <seconds>', group: WHAT, path: `${schema}.timeoutMs`, reads: 'seconds' },
  ];
}

/** Every option of every command, in the order --help shows them. A new option is one entry here. */
export const OPTIONS: Record<CommandName, readonly OptionDefinition[]> = {
  crawl: [
    { flags: '--input <file>', group: WHAT, help: 'Input document, .yaml or .json: see docs/configuration.md' },
    { flags: '--url-column <name>', group: WHAT, path: 'urlColumn' },
    { flags: '--method <method>', group: WHAT, path: 'method' },
    { flags: '--body <text>', group: WHAT, path: 'body' },
    { flags: '--header <name: value>', group: WHAT, path: 'headers', reads: 'header', repeatable: true },
    { flags: '--select <path>', group: WHAT, path: 'select' },
    { flags: '--source-column <name>', group: WHAT, path: 'sourceColumn' },
    { flags: '--dataset <name>', group: WHAT, path: 'dataset' },
    {
      flags: '--sample <pages>',
      group: WHAT,
      help: 'Only so many pages of each resource of the api, into run "sample"',
    },
    {
      flags: '--dry-run',
      group: WHAT,
      help: 'Show the requests it would begin with: nothing is sent, nothing is written',
    },
    { flags: '--max-requests <count>', group: WHAT, path: 'maxRequestsPerCrawl', reads: 'number' },
    {
      flags: '--ignore-robots',
      group: WHAT,
      path: 'hosts.*.robots',
      reads: { constant: 'ignore' },
      help: 'Crawl what robots.txt disallows: with the permission of its owner only',
    },
    { flags: '--contact <address>', group: WHAT, path: 'contact' },
    ...pace,
    run,
    storageDir,
    database,
    { flags: '--fresh', group: RUN, help: 'Start anew; the run there is becomes <name>.previous' },
    {
      flags: '--refresh',
      group: RUN,
      help: 'Ask only for what has changed since the last finished run of this name with --refresh (ETag, Last-Modified)',
    },
    { flags: '--join', group: RUN, help: 'Work beside the process that crawls this run now, on this machine' },
    { flags: '--durability <normal|full>', group: RUN, path: 'durability' },
    output,
    ...csv,
    force,
    { flags: '--no-export', group: OUTPUT, help: 'Write no files at the end: "millrace export" does it at any time' },
    {
      flags: '--report <file>',
      group: OUTPUT,
      help: "Write the report page here too; it is always in the run's folder",
    },
    {
      flags: '--ui [port]',
      group: OUTPUT,
      takes: /^([^\s/]+:)?\d{1,5}$/,
      help: 'Show the report page live on this port of this machine (default: any free one); 0.0.0.0:8080 for other machines too',
    },
    {
      flags: '--metrics-port <port>',
      group: OUTPUT,
      help: 'Serve /metrics for Prometheus, /healthz and /readyz on this port while it crawls (0 = any free one; default: MILLRACE_METRICS_PORT)',
    },
    { flags: '--json', group: OUTPUT, help: 'The summary as one JSON document on stdout, all else on stderr' },
    ...messages,
  ],
  export: [
    run,
    storageDir,
    database,
    {
      flags: '--dataset <name>',
      group: OUTPUT,
      repeatable: true,
      help: 'Only this dataset (default: all). Repeatable',
    },
    {
      ...output,
      help: 'Write to this file instead, or - for stdout; its name says how: .json, .jsonl, .ndjson, .csv, each also .gz, or .parquet. Repeatable',
    },
    {
      flags: '--format <format>',
      group: OUTPUT,
      help: 'json, jsonl, ndjson, csv, each also with .gz, or parquet, whatever the name says',
    },
    {
      flags: '--fields <list>',
      group: OUTPUT,
      help: "Only these columns, such as id,brand.name; of the run's main dataset unless --dataset names another",
    },
    { flags: '--limit <count>', group: OUTPUT, help: 'Only the first rows of each dataset' },
    ...csv,
    force,
    { flags: '--json', group: OUTPUT, help: 'The paths of the files as one JSON document on stdout' },
    ...messages,
  ],
  'retry-failed': [
    {
      flags: '--code <code>',
      group: WHAT,
      repeatable: true,
      help: 'Only failures of this code, HTTP_503 for example. Repeatable',
    },
    { flags: '--host <host>', group: WHAT, repeatable: true, help: 'Only failures of this host. Repeatable' },
    {
      flags: '--failures <file>',
      group: WHAT,
      help: 'Try nothing again: write the failed requests to this file, or - for stdout, as input for another crawl',
    },
    { flags: '--since <time>', group: WHAT, help: 'Only failures since then: 30m, 2h, 1d ago, or an ISO 8601 time' },
    ...pace,
    run,
    storageDir,
    database,
    output,
    ...csv,
    force,
    { flags: '--no-export', group: OUTPUT, help: 'Write no files at the end' },
    { flags: '--json', group: OUTPUT, help: 'The summary as one JSON document on stdout, all else on stderr' },
    ...messages,
  ],
  revalidate: [
    {
      flags: '--input <file>',
      group: WHAT,
      help: 'Take the schemas of the api in this document (default: the document that the run has stored)',
    },
    run,
    storageDir,
    database,
    { flags: '--json', group: OUTPUT, help: 'What became of the records as one JSON document on stdout' },
    ...messages,
  ],
  recover: [
    { ...run, help: 'The damaged run, which is only read (default: default)' },
    {
      flags: '--to <name>',
      group: RUN,
      help: 'The run to make of it: a new name (default: that of the run, then -recovered)',
    },
    storageDir,
    { flags: '--json', group: OUTPUT, help: 'What came over as one JSON document on stdout' },
    ...messages,
  ],
  status: [
    run,
    storageDir,
    database,
    { flags: '--json', group: OUTPUT, help: 'The summary as one JSON document' },
    ...messages,
  ],
  worker: [
    { flags: '--header <name: value>', group: WHAT, path: 'headers', reads: 'header', repeatable: true },
    ...pace,
    run,
    storageDir,
    database,
    {
      flags: '--metrics-port <port>',
      group: OUTPUT,
      help: 'Serve /metrics for Prometheus, /healthz and /readyz on this port while it crawls (0 = any free one)',
    },
    { flags: '--json', group: OUTPUT, help: 'The summary as one JSON document on stdout, all else on stderr' },
    ...messages,
  ],
  init: [
    { flags: '--output <file>', group: OUTPUT, help: 'Write it to this file (default: stdout)' },
    { flags: '--force', group: OUTPUT, help: 'Replace a file that is there' },
    {
      flags: '--header <name: value>',
      group: WHAT,
      path: 'headers',
      reads: 'header',
      repeatable: true,
      help: 'Sent to the URL; in what is written a variable stands for its value. Repeatable',
    },
    { flags: '--timeout <seconds>', group: PACE, path: 'hosts.*.timeouts.totalMs', reads: 'seconds' },
    ...messages,
  ],
  validate: [...messages],
  probe: [
    ...measuredRequest('probe'),
    { flags: '--rate <rate>', group: PACE, path: 'probe.rate', reads: 'number' },
    { flags: '--max-concurrency <count>', group: PACE, path: 'probe.maxConcurrency', reads: 'number' },
    { flags: '--keep-alive <seconds>', group: PACE, path: 'probe.keepAliveMs', reads: 'seconds' },
    { flags: '--save <file>', group: OUTPUT, help: 'Keep what was measured in this file, for --compare' },
    {
      flags: '--compare <files...>',
      group: OUTPUT,
      repeatable: true,
      help: 'Put what --save has kept at several places side by side: which one to crawl from',
    },
    { ...storageDir, group: SETUP },
    { flags: '--database <url>', group: SETUP, help: 'PostgreSQL to look for (default: MILLRACE_DATABASE_URL)' },
    { flags: '--json', group: OUTPUT, help: 'What was measured as one JSON document' },
    ...messages,
  ],
  ramp: [
    ...measuredRequest('ramp'),
    { flags: '--max-rate <rate>', group: PACE, path: 'ramp.maxRate', reads: 'number' },
    { flags: '--yes', group: OUTPUT, help: 'Agree to what it says it will send, without being asked' },
    { flags: '--json', group: OUTPUT, help: 'What was found as one JSON document' },
    ...messages,
  ],
  bench: [
    ...measuredRequest('bench'),
    { flags: '--requests <count>', group: PACE, path: 'bench.requests', reads: 'number' },
    { flags: '--concurrency <count>', group: PACE, path: 'bench.concurrency', reads: 'number' },
    { flags: '--rate <rate>', group: PACE, path: 'bench.rate', reads: 'number' },
    { flags: '--warmup <count>', group: PACE, path: 'bench.warmup', reads: 'number' },
    {
      flags: '--compare <settings>',
      group: PACE,
      help: 'A second load, in turns with the first: concurrency=50, rate=100, http2=off, client=got-scraping, joined by commas',
    },
    { flags: '--json', group: OUTPUT, help: 'What was measured as one JSON document' },
    ...messages,
  ],
  'practice-api': [
    { flags: '--port <port>', group: BEHAVIOUR, path: 'practiceApi.port', reads: 'number' },
    { flags: '--items <count>', group: BEHAVIOUR, path: 'practiceApi.items', reads: 'number' },
    { flags: '--latency-ms <ms>', group: BEHAVIOUR, path: 'practiceApi.latencyMs', reads: 'number' },
    { flags: '--error-rate <share>', group: BEHAVIOUR, path: 'practiceApi.errorRate', reads: 'number' },
    { flags: '--rate-limit <rate>', group: BEHAVIOUR, path: 'practiceApi.rateLimit', reads: 'number' },
    ...messages,
  ],
};
