import { expect, test } from 'vitest';
import { type Waiting, waitingText } from '../../src/report/waiting.ts';

test.each<[Waiting, string]>([
  [{ kind: 'retries', count: 1_200, nextInMs: 3_000 }, 'waiting to retry 1,200 requests, the next in 3.0 s'],
  [{ kind: 'retries', count: 1, nextInMs: 20 }, 'waiting to retry 1 request, the next now'],
  [
    { kind: 'parked', host: 'a.example', reason: 'status 429, told to wait 12 s', forMs: 95_000, others: 0 },
    'waiting for a.example: nothing is sent for 1 min 35 s (status 429, told to wait 12 s)',
  ],
  [
    { kind: 'parked', host: 'a.example', reason: null, forMs: 500, others: 1 },
    'waiting for a.example and 1 other host: nothing is sent for 0.5 s',
  ],
  [
    { kind: 'robots', host: 'a.example', reason: 'it answered 503', nextInMs: 4_000, others: 2 },
    'waiting for the robots.txt of a.example and 2 other hosts (it answered 503), next try in 4.0 s',
  ],
  [
    { kind: 'robots', host: 'a.example', reason: null, nextInMs: null, others: 0 },
    'waiting for the robots.txt of a.example',
  ],
  [{ kind: 'store', forMs: 1_200 }, 'waiting for the storage folder or the database for 1.2 s'],
])('%o is told as "%s"', (waiting, text) => {
  expect(waitingText(waiting)).toBe(text);
});
