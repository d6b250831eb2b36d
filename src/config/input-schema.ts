import { z } from 'zod';
import { apiSchema } from './api-schema.ts';
import { hostEntrySchema } from './host-schema.ts';

const header = z.record(z.string().min(1), z.string());

export const startUrlSchema = z.strictObject({
  url: z.string().min(1).describe('Absolute http or https URL'),
  method: z
    .string()
    .regex(/^[A-Za-z]+$/)
    .optional()
    .describe('HTTP method; GET when left out'),
  payload: z.string().optional().describe('Request body'),
  headers: header.optional().describe('Headers of this request'),
  label: z.string().optional().describe('The route that handles it'),
  userData: z.record(z.string(), z.unknown()).optional().describe('Data for the route'),
});

/**
 * The input document: INPUT.json of an Actor, or a YAML or JSON file by --input. Its defaults are written here and
 * nowhere else. Host entries are kept as given and completed by `hostConfig`, so that an exact host can override a
 * pattern, and a pattern the default, key by key.
 */
export const inputSchema = z.strictObject({
  startUrls: z
    .array(z.union([z.string().min(1), startUrlSchema]))
    .default([])
    .describe('URLs to fetch, as text or with method, payload, headers, label and userData'),
  urlsFile: z.string().min(1).nullable().default(null).describe('A file of URLs: .txt, .csv or .jsonl'),
  urlColumn: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('The column of a .csv, or the key of a .jsonl, that has the URL'),
  routes: z.boolean().default(false).describe('Start from the seeds of the routes in src/routes/index.ts'),
  api: apiSchema.optional(),
  select: z.string().min(1).nullable().default(null).describe('JSONPath (RFC 9535) of the records in a response'),
  sourceColumn: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('Name of a column that keeps the URL a record came from'),
  dataset: z.string().min(1).default('default').describe('Dataset that records go to'),
  method: z
    .string()
    .regex(/^[A-Za-z]+$/)
    .default('GET')
    .describe('HTTP method of the start URLs'),
  body: z.string().nullable().default(null).describe('Request body of the start URLs'),
  headers: header.default({}).describe('Headers sent to the origins of the start URLs, and nowhere else'),
  maxConcurrency: z.number().int().min(1).max(100_000).default(100).describe('Most requests in flight over all hosts'),
  maxRequestsPerMinute: z
    .number()
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Ceiling over all hosts, evenly paced; null = none'),
  hosts: z
    .record(z.string().min(1), hostEntrySchema)
    .default({})
    .describe('Settings by host: exact before pattern ("*.example.org") before "default"'),
  followHosts: z
    .array(z.string().min(1))
    .default([])
    .describe('Other hosts that follow-up requests may go to; "*" = any'),
  maxRequestsPerCrawl: z
    .number()
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Stop after so many requests; null = no limit'),
  maxDurationSecs: z.number().positive().nullable().default(null).describe('Stop after so long, s; null = no limit'),
  maxFailures: z
    .number()
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Stop after so many failed requests; null = no limit'),
  maxFailureShare: z
    .number()
    .gt(0)
    .max(1)
    .nullable()
    .default(null)
    .describe('Stop when so large a share has failed (after 100 requests); null = no limit'),
  maxWaitSecs: z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .describe('End incomplete when every host left is parked for longer, s; null = wait'),
  contact: z.string().min(1).nullable().default(null).describe('E-mail or URL put into the User-Agent'),
  userAgent: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe('The whole User-Agent; null = millrace/<version> with the contact'),
  productToken: z
    .string()
    .regex(/^[A-Za-z_-]+$/)
    .default('millrace')
    .describe('The name robots.txt rules are looked up by'),
  httpClient: z.enum(['undici', 'got-scraping']).default('undici').describe('HTTP client'),
  blockPrivateAddresses: z.boolean().default(false).describe('Refuse loopback and private targets'),
  maxBodyBytes: z
    .number()
    .int()
    .min(1)
    .default(64 * 1024 * 1024)
    .describe('Longest response body after decompression, bytes'),
  durability: z.enum(['normal', 'full']).default('normal').describe('full: also a power cut undoes nothing'),
  refresh: z
    .boolean()
    .default(false)
    .describe('Ask again with ETag or If-Modified-Since, and keep what has not changed'),
  queue: z
    .enum(['auto', 'local', 'apify'])
    .default('auto')
    .describe('Where an Actor keeps its queue: in its own file (auto, local), or in the request queue of the run'),
  failOnErrors: z.boolean().default(false).describe('An Actor fails when requests failed'),
  export: z
    .strictObject({
      formats: z
        .array(z.enum(['json', 'jsonl', 'ndjson', 'csv', 'parquet']))
        .default(['json', 'csv'])
        .describe('Files written when the crawl ends'),
    })
    .prefault({})
    .describe('Exports at the end'),
});

/** The input document, parsed. */
export type Input = z.output<typeof inputSchema>;
/** The input document as written. */
export type InputDocument = z.input<typeof inputSchema>;
export type StartUrl = z.output<typeof startUrlSchema>;
