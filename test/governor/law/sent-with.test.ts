import { expect, test } from 'vitest';
import { SentWith } from '../../../src/governor/law/sent-with.ts';

test('tells with how many others a request was sent, granted then or shortly before', () => {
  const sentWith = new SentWith();
  sentWith.sent(100, 1);
  sentWith.sent(110, 2);
  sentWith.sent(120, 3);
  expect([100, 105, 110, 119, 120, 500].map((atMs) => sentWith.at(atMs))).toEqual([1, 1, 2, 2, 3, 3]);
});

test('knows nothing of what was sent before the last 256', () => {
  const sentWith = new SentWith();
  expect(sentWith.at(1)).toBeNull();
  for (let index = 0; index < 300; index++) sentWith.sent(index, index);
  expect([43, 44, 299].map((atMs) => sentWith.at(atMs))).toEqual([null, 44, 299]);
});
