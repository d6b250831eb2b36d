import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Request } from '@crawlee/core';
import { parse } from 'csv-parse';
import { listFileSpec } from '../../src/config/source-specs.ts';
import { openSource } from '../../src/queue/sources/open-source.ts';

/** Reads a list to its end and keeps nothing. @returns requests found */
export type Reader = (path: string) => Promise<number>;

/** URL, unique key and host of every entry. */
async function millrace(path: string): Promise<number> {
  const source = openSource(listFileSpec({ path, name: path, urlColumn: null }), {
    defaults: { method: 'GET', body: null },
    stdin: process.stdin,
    onMalformed: ({ line, reason }) => {
      throw new Error(`${path}:${line}: ${reason}`);
    },
  });
  let count = 0;
  for await (const { items } of source.batches()) count += items.length;
  return count;
}

/** What a script does: readline, and the URL parsed for host and key. */
async function readlineAndUrl(path: string): Promise<number> {
  let keys = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const { href, host } = new URL(line);
    if (href.length > 0 && host.length > 0) keys += 1;
  }
  return keys;
}

/** What Crawlee's addRequests does with each URL, once it has the list. */
async function readlineAndCrawlee(path: string): Promise<number> {
  let keys = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (new Request({ url: line }).uniqueKey.length > 0) keys += 1;
  }
  return keys;
}

/** The records alone, without a look at the URL. */
async function csvParse(path: string): Promise<number> {
  let count = 0;
  for await (const _record of createReadStream(path).pipe(parse({ from_line: 2, bom: true }))) count += 1;
  return count;
}

async function readlineAndJson(path: string): Promise<number> {
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const { url } = JSON.parse(line) as { url: string };
    if (new URL(url).host.length > 0) count += 1;
  }
  return count;
}

export const READERS: Record<string, Reader> = {
  millrace,
  readlineAndUrl,
  readlineAndCrawlee,
  csvParse,
  readlineAndJson,
};
