import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linkTarget, parseLinkHeader } from '../../src/api/link-header.ts';
import { nextUrl } from '../../src/api/paginate/next-url.ts';
import { parseHttpDate } from '../../src/governor/signals/http-date.ts';
import { readSignals } from '../../src/governor/signals/read-signals.ts';
import { parseRetryAfter } from '../../src/governor/signals/retry-after.ts';
import { charsetOf, decodeBody } from '../../src/http/charset.ts';
import { isRedirect, nextHop, RedirectError } from '../../src/http/redirects.ts';
import { SessionCookies } from '../../src/sessions/session-cookies.ts';
import { cases, headerText, inTime } from './support/arbitrary.ts';

const WALL_MS = Date.UTC(2026, 0, 1);
const URL_ASKED = 'https://api.example.com/items?page=1';
const LIMIT_HEADERS = [
  ...['retry-after', 'ratelimit', 'ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
  ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-bucket', 'x-rate-limit-limit'],
  ...[
    'x-ratelimit-reset-after',
    'x-ratelimit-resource',
    'x-shopify-shop-api-call-limit',
    'date',
    'age',
    'retry-after-ms',
  ],
];
const limitHeaders = fc.dictionary(fc.constantFrom(...LIMIT_HEADERS), headerText, { maxKeys: 8 });

describe('whatever a header says, it is read or passed over, at once', () => {
  test('Retry-After: a wait that is no less than 0, or none', () => {
    fc.assert(
      fc.property(headerText, (text) => {
        const waitMs = inTime(() => parseRetryAfter(text, WALL_MS));
        expect(waitMs === undefined || (Number.isFinite(waitMs) && waitMs >= 0)).toBe(true);
      }),
      cases(200),
    );
  });

  test('Date: a time, or none', () => {
    fc.assert(
      fc.property(headerText, (text) => {
        const atMs = inTime(() => parseHttpDate(text));
        expect(atMs === undefined || Number.isFinite(atMs)).toBe(true);
      }),
      cases(200),
    );
  });

  test('RateLimit in all its dialects: finite numbers, or nothing', () => {
    const status = fc.constantFrom(200, 403, 429, 503, 529);
    fc.assert(
      fc.property(status, limitHeaders, fc.option(fc.oneof(headerText, fc.json())), (code, headers, bodyText) => {
        const { limits, retryAfterMs } = inTime(() => readSignals({ status: code, headers, bodyText }, WALL_MS));
        expect(retryAfterMs === null || (Number.isFinite(retryAfterMs) && retryAfterMs >= 0)).toBe(true);
        for (const { limit, remaining, windowMs, resetMs } of limits)
          for (const value of [limit, remaining, windowMs, resetMs])
            expect(value === null || (Number.isFinite(value) && value >= 0)).toBe(true);
      }),
      cases(200),
    );
  });

  test('Link: a list, and a next page that is an http URL, or none', () => {
    fc.assert(
      fc.property(headerText, (text) => {
        const target = inTime(() => linkTarget(parseLinkHeader(text), 'next'));
        const next = target === undefined ? undefined : nextOrFailure(target);
        if (typeof next === 'string') expect(new URL(next).protocol).toMatch(/^https?:$/);
      }),
      cases(200),
    );
  });

  test('Content-Type: a charset or none, and text of any bytes', () => {
    fc.assert(
      fc.property(headerText, fc.uint8Array({ maxLength: 200 }), (text, bytes) => {
        inTime(() => charsetOf(text));
        expect(typeof inTime(() => decodeBody(Buffer.from(bytes), { 'content-type': text }))).toBe('string');
      }),
      cases(200),
    );
  });

  test('Set-Cookie: taken or not, and then no more than a Cookie header', () => {
    fc.assert(
      fc.property(fc.array(headerText, { maxLength: 5 }), (texts) => {
        const cookies = new SessionCookies(() => {});
        for (const text of texts) inTime(() => cookies.take(text, URL_ASKED));
        const sent = inTime(() => cookies.textFor(URL_ASKED, WALL_MS));
        expect(sent).not.toMatch(/[\r\n\0]/);
        // None of them is for another site.
        expect(cookies.textFor('https://other.example/', WALL_MS)).toBe('');
      }),
      cases(200),
    );
  });

  test('Location: a request without credentials elsewhere, or a typed failure', () => {
    fc.assert(
      fc.property(headerText, fc.constantFrom(301, 302, 303, 307, 308), (location, status) => {
        const response = { status, headers: { location } };
        expect(isRedirect(response)).toBe(true);
        const hop = inTime(() => hopOrFailure(response));
        if (hop instanceof RedirectError) {
          expect(['BAD_LOCATION', 'REDIRECT_LOOP', 'TOO_MANY_REDIRECTS']).toContain(hop.code);
          return;
        }
        const target = new URL(hop.url);
        expect(target.protocol).toMatch(/^https?:$/);
        if (target.origin !== 'https://api.example.com') expect(hop.headers).not.toHaveProperty('authorization');
      }),
      cases(200),
    );
  });
});

function nextOrFailure(target: string): string | undefined {
  return inTime(() => nextUrl(target, { url: URL_ASKED }));
}

function hopOrFailure(response: { status: number; headers: { location: string } }) {
  const request = {
    url: URL_ASKED,
    method: 'GET',
    headers: { authorization: 'Bearer secret' },
    body: null,
    timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1, totalMs: 1 },
    maxBodyBytes: 1,
    proxyUrl: null,
    http2: 'auto' as const,
  };
  try {
    return nextHop(request, response, { visited: [URL_ASKED], limit: 10 });
  } catch (error) {
    if (error instanceof RedirectError) return error;
    throw error;
  }
}
