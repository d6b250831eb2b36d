import { formatCount, formatDuration } from './format.ts';

/** What a crawl waits for while nothing of it is under way. Times from now, in ms. */
export type Waiting =
  /** `count` requests that have failed are tried again; the first of them in `nextInMs`. */
  | { kind: 'retries'; count: number; nextInMs: number }
  /** The host is left alone for so long, and `others` more are for longer. */
  | { kind: 'parked'; host: string; reason: string | null; forMs: number; others: number }
  /** `reason` and `nextInMs`: null while it is being fetched. */
  | { kind: 'robots'; host: string; reason: string | null; nextInMs: number | null; others: number }
  | { kind: 'store'; forMs: number };

/** @returns why nothing goes on, and until when, in one line */
export function waitingText(waiting: Waiting): string {
  switch (waiting.kind) {
    case 'retries':
      return `waiting to retry ${formatCount(waiting.count)} ${waiting.count === 1 ? 'request' : 'requests'}, the next ${soon(waiting.nextInMs)}`;
    case 'parked':
      return `waiting for ${waiting.host}${othersText(waiting.others)}: nothing is sent for ${inSecs(waiting.forMs)}${reasonText(waiting.reason)}`;
    case 'robots':
      return `waiting for the robots.txt of ${waiting.host}${othersText(waiting.others)}${robotsText(waiting)}`;
    case 'store':
      return `waiting for the storage folder or the database for ${inSecs(waiting.forMs)}`;
  }
}

function robotsText({ reason, nextInMs }: { reason: string | null; nextInMs: number | null }): string {
  const next = nextInMs === null ? '' : `, next try ${soon(nextInMs)}`;
  return reason === null ? '' : ` (${reason})${next}`;
}

function reasonText(reason: string | null): string {
  return reason === null || reason === '' ? '' : ` (${reason})`;
}

function othersText(others: number): string {
  return others === 0 ? '' : ` and ${formatCount(others)} other ${others === 1 ? 'host' : 'hosts'}`;
}

function soon(ms: number): string {
  return ms < 50 ? 'now' : `in ${inSecs(ms)}`;
}

function inSecs(ms: number): string {
  return formatDuration(Math.max(0, ms) / 1_000);
}
