import { stringifyExact } from '../core/exact-json.ts';
import type { PendingWork } from './pending-work.ts';

/** Picks records out of a body; without one, a URL yields one record `{url, status, data, error}`. */
export type RecordSelector = {
  /** The JSONPath, for messages. */
  path: string;
  /** @throws CrawlError when nothing matches where something must */
  select: (body: unknown) => unknown[];
};

/** How responses of a plain list of URLs become records. */
export type PlainList = {
  dataset: string;
  selector: RecordSelector | null;
  /** Column that keeps the URL of a selected record; null = none. */
  sourceColumn: string | null;
};

export type ListedResponse = { url: string; status: number; body: unknown; text: string };

/** Writes the records of one response of a URL list. */
export function addListedRecords(list: PlainList, response: ListedResponse, work: PendingWork): void {
  if (list.selector === null) {
    addRow(list, response, work);
    return;
  }
  for (const record of list.selector.select(response.body)) {
    work.addRecord(
      list.dataset,
      list.sourceColumn === null ? record : withSource(record, list.sourceColumn, response.url),
    );
  }
}

/** The row of a URL that failed, or was skipped before it was sent, so that rows = distinct input URLs. */
export function addFailedRow(
  list: PlainList,
  facts: { url: string; status: number | null; error: string },
  work: PendingWork,
): void {
  if (list.selector === null)
    work.addRecord(list.dataset, { url: facts.url, status: facts.status, data: null, error: facts.error });
}

function addRow(list: PlainList, { url, status, body, text }: ListedResponse, work: PendingWork): void {
  // The body's own text keeps every digit and saves writing it anew. A record is one line, and so is most JSON.
  // A list may have been made of several values side by side: its text is then no JSON.
  const data = isOneLine(text) && !Array.isArray(body) ? text : stringifyExact(body);
  const row = { url, status, data: body, error: null };
  work.addJson(list.dataset, row, `{"url":${JSON.stringify(url)},"status":${status},"data":${data},"error":null}`);
}

function isOneLine(text: string): boolean {
  return text !== '' && !text.includes('\n') && !text.includes('\r');
}

function withSource(record: unknown, column: string, url: string): unknown {
  if (typeof record === 'object' && record !== null && !Array.isArray(record)) return { [column]: url, ...record };
  return { [column]: url, value: record };
}
