import { expect } from 'vitest';
import type { HttpErrorCode, HttpRequest } from '../../../src/http/client.ts';
import { HttpError } from '../../../src/http/http-error.ts';

/** A GET with generous limits, changed as given. */
export function request(url: string, changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    url,
    method: 'GET',
    headers: {},
    body: null,
    timeouts: { connectMs: 10_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 20_000 },
    maxBodyBytes: 1024 * 1024,
    proxyUrl: null,
    http2: 'auto',
    ...changes,
  };
}

/** Time limits with one or two of them short. */
export function limits(changes: Partial<HttpRequest['timeouts']>): Pick<HttpRequest, 'timeouts'> {
  return { timeouts: { connectMs: 10_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 20_000, ...changes } };
}

/** @returns the error a request ended with, which must have this code */
export async function failure(sending: Promise<unknown>, code: HttpErrorCode): Promise<HttpError> {
  const error = await sending.then(
    () => expect.fail(`the request should have failed with ${code}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(HttpError);
  const failed = error as HttpError;
  expect(`${failed.code}: ${failed.message}`).toMatch(new RegExp(`^${code}: `));
  return failed;
}
