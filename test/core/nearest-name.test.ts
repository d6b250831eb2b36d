import { expect, test } from 'vitest';
import { didYouMean, editDistance, nearestName } from '../../src/core/nearest-name.ts';

const KEYS = ['maxConcurrency', 'maxRequestsPerMinute', 'maxRetries', 'headers', 'hosts', 'http2'];

test.each([
  ['maxConcurancy', 'maxConcurrency'],
  ['maxconcurrency', 'maxConcurrency'],
  ['max-concurrency', 'maxConcurrency'],
  ['header', 'headers'],
  ['hsots', 'hosts'],
  ['htpp2', 'http2'],
  ['maxRetrys', 'maxRetries'],
  ['head', 'headers'],
  ['headers_of_all', 'headers'],
])('%s was meant to be %s', (name, meant) => {
  expect(nearestName(name, KEYS)).toBe(meant);
});

test.each(['x', 'verbose', 'retry', ''])('nothing is near to %s', (name) => {
  expect(nearestName(name, KEYS)).toBeNull();
  expect(didYouMean(name, KEYS)).toBe('');
});

test('the nearest of several is named', () => {
  expect(didYouMean('maxRetres', KEYS)).toBe(' Did you mean maxRetries?');
});

test.each([
  ['', 'abc', 3],
  ['abc', 'abc', 0],
  ['abc', 'acb', 1],
  ['kitten', 'sitting', 3],
  ['ca', 'abc', 3],
])('from %s to %s it is %i edits', (from, to, distance) => {
  expect(editDistance(from, to)).toBe(distance);
  expect(editDistance(to, from)).toBe(distance);
});
