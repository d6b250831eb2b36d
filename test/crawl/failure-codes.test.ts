import { readFileSync } from 'node:fs';
import {
  CriticalError,
  MissingRouteError,
  NonRetryableError,
  RequestValidationError,
  RetryRequestError,
  SessionError,
} from '@crawlee/core';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/api-error.ts';
import { EnvironmentError, UsageError } from '../../src/core/errors.ts';
import { FAILURE_KINDS, failureAdvice, failureKind } from '../../src/core/failure-advice.ts';
import { codeOfStatus, failureCodeOf, RequestFailure, recoveryOf } from '../../src/crawl/failure-codes.ts';
import { type HttpErrorCode, NETWORK_FAILURE_OF } from '../../src/http/client.ts';
import { HttpError } from '../../src/http/http-error.ts';
import { InvalidJsonError } from '../../src/http/invalid-json-error.ts';
import { RedirectError } from '../../src/http/redirects.ts';
import { RouteError, UnknownLabelError } from '../../src/routes/route-error.ts';

const httpCodes = Object.keys(NETWORK_FAILURE_OF) as HttpErrorCode[];
const httpError = (code: HttpErrorCode) => new HttpError({ code, message: 'test', wasSent: false });
class TimeoutError extends Error {}

describe('the code and the recovery of anything thrown', () => {
  test.each([
    ['an unknown label fails its request, not the crawl', new MissingRouteError('x'), 'UNKNOWN_LABEL', 'skip'],
    ['user data that do not fit', new RequestValidationError('x', []), 'INVALID_USER_DATA', 'skip'],
    ["Crawlee's NonRetryableError", new NonRetryableError('x'), 'HANDLER_FAILED', 'skip'],
    ["Crawlee's RetryRequestError costs no retry", new RetryRequestError('x'), 'HANDLER_FAILED', 'wait'],
    ["Crawlee's SessionError costs one", new SessionError('x'), 'HANDLER_FAILED', 'retry'],
    ["Crawlee's CriticalError", new CriticalError('x'), 'CRITICAL', 'stop'],
    ['a setting that cannot be used', new UsageError('x'), 'CONFIGURATION', 'stop'],
    ['a full disk', new EnvironmentError('x'), 'ENVIRONMENT', 'stop'],
    ['a handler that takes too long', new TimeoutError('x'), 'HANDLER_TIMEOUT', 'retry'],
    ['an abort', new DOMException('x', 'AbortError'), 'ABORTED', 'wait'],
    ['a bug in a route', new TypeError('x'), 'HANDLER_FAILED', 'retry'],
    ['a thrown text', 'x', 'HANDLER_FAILED', 'retry'],
    ['nothing thrown', undefined, 'HANDLER_FAILED', 'retry'],
    ['one of our own', new RequestFailure('REDIRECT_LOOP', 'x'), 'REDIRECT_LOOP', 'skip'],
    ['a status', new RequestFailure(codeOfStatus(404), 'x'), 'HTTP_404', 'skip'],
  ])('%s', (_, error, code, recovery) => {
    expect([failureCodeOf(error), recoveryOf(error)]).toEqual([code, recovery]);
  });

  test('an error that a handler wrapped keeps the code of its cause', () => {
    const error = new Error('while paging', { cause: httpError('TIMEOUT_IDLE') });
    expect(failureCodeOf(error)).toBe('TIMEOUT_IDLE');
  });

  test('a dead proxy costs no retry', () => {
    expect(recoveryOf(httpError('PROXY_FAILED'))).toBe('wait');
  });
});

describe('the table of failures', () => {
  test('has every code of the HTTP client, with the recovery the client gives it', () => {
    for (const code of httpCodes) {
      expect(FAILURE_KINDS, code).toHaveProperty(code);
      expect(recoveryOf(httpError(code)), code).toBe(failureKind(code).recovery);
    }
  });

  test('agrees with the errors of declared resources, routes and JSON bodies', () => {
    const errors = [
      new InvalidJsonError({ url: 'x', text: '', reason: 'x', position: null }),
      new RouteError({ label: 'x', problem: 'x' }),
      new UnknownLabelError({ label: 'x', known: [] }),
      new ApiError({ code: 'SELECTOR_NO_MATCH', message: 'x' }),
      new RedirectError({ code: 'REDIRECT_LOOP', message: 'x' }),
    ];
    for (const error of errors) {
      expect(FAILURE_KINDS, error.code).toHaveProperty(error.code);
      expect(recoveryOf(error), error.code).toBe(failureKind(error.code).recovery);
    }
  });

  test('knows each status, by itself or by its class', () => {
    expect(failureKind('HTTP_403').meaning).toBe('The server refuses this identity');
    expect(failureKind('HTTP_418').recovery).toBe('skip');
    expect(failureKind('HTTP_599').recovery).toBe('retry');
    expect(failureKind('HTTP_429').recovery).toBe('wait');
  });

  test('gives a code it does not know the advice of a failed handler', () => {
    expect(failureAdvice('MY_OWN_CODE')).toBe(failureAdvice('HANDLER_FAILED'));
    expect(failureAdvice('constructor')).toBe(failureAdvice('HANDLER_FAILED'));
  });

  test('says something of use for each code', () => {
    for (const code of [...Object.keys(FAILURE_KINDS), 'HTTP_404', 'HTTP_500', 'HTTP_418', 'HTTP_304'])
      expect(failureAdvice(code), code).toMatch(/^[A-Z].{20,}\.$/);
  });
});

test('docs/failures.md lists each code with its meaning and advice, and no other', () => {
  const page = readFileSync(new URL('../../docs/failures.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| ([A-Z][A-Z_]+) \|/gm)].map(([, code]) => code);
  expect(listed).toEqual(Object.keys(FAILURE_KINDS));
  for (const [code, { meaning, advice }] of Object.entries(FAILURE_KINDS)) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${code} `));
    expect(row, code).toContain(meaning);
    expect(row, code).toContain(advice);
  }
});
