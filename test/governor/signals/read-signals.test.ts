import { expect, test } from 'vitest';
import { profileOf } from '../../../src/governor/signals/profile.ts';
import { readSignals } from '../../../src/governor/signals/read-signals.ts';

/** Tue, 23 May 2023 10:00:00 GMT */
const WALL_MS = Date.UTC(2023, 4, 23, 10);
const EPOCH_SECS = WALL_MS / 1000;

type Read = { limit?: number; remaining?: number; windowMs?: number; resetMs?: number; unit?: string };
type Row = { host?: string; status?: number; headers?: Record<string, string>; body?: string; limits: Read[] };

function read(row: Omit<Row, 'limits'>) {
  const { host = 'api.example.com', status = 200, headers = {}, body = null } = row;
  return readSignals({ status, headers, bodyText: body }, WALL_MS, profileOf(host));
}

/** Only what the row names is compared; what it leaves out must be null. */
function expectLimits(row: Row): void {
  const limits = read(row).limits.map(({ limit, remaining, windowMs, resetMs, unit }) => ({
    limit,
    remaining,
    windowMs,
    resetMs,
    unit,
  }));
  const nothing = { limit: null, remaining: null, windowMs: null, resetMs: null, unit: 'requests' };
  expect(limits).toEqual(row.limits.map((limit) => ({ ...nothing, ...limit })));
}

const rows: Record<string, Row> = {
  'IETF draft 8 to 10': {
    headers: { 'ratelimit-policy': '"burst";q=100;w=60', ratelimit: '"burst";r=50;t=30' },
    limits: [{ limit: 100, remaining: 50, windowMs: 60_000, resetMs: 30_000 }],
  },
  'IETF with two policies, the state of one': {
    headers: { 'ratelimit-policy': '"burst";q=100;w=60, "daily";q=1000;w=86400', ratelimit: '"daily";r=900;t=3600' },
    limits: [
      { limit: 100, windowMs: 60_000 },
      { limit: 1000, remaining: 900, windowMs: 86_400_000, resetMs: 3_600_000 },
    ],
  },
  'IETF later wording: a for r, w for t': {
    headers: { 'ratelimit-policy': '"burst";q=100;w=60', ratelimit: '"burst";a=80;w=45' },
    limits: [{ limit: 100, remaining: 80, windowMs: 60_000, resetMs: 45_000 }],
  },
  'IETF draft 8 to 9 with tokens for names': {
    headers: { 'ratelimit-policy': 'default;q=10;w=1', ratelimit: 'default;r=3;t=1' },
    limits: [{ limit: 10, remaining: 3, windowMs: 1000, resetMs: 1000 }],
  },
  'IETF concurrency limit': {
    headers: { 'ratelimit-policy': '"slots";q=5;qu="concurrent-requests"' },
    limits: [{ limit: 5, unit: 'concurrent' }],
  },
  'IETF byte quota is not ours': {
    headers: { 'ratelimit-policy': '"bytes";q=5000;w=60;qu="content-bytes"' },
    limits: [],
  },
  'IETF draft 7': {
    headers: { ratelimit: 'limit=100, remaining=50, reset=5', 'ratelimit-policy': '100;w=10' },
    limits: [{ limit: 100, remaining: 50, windowMs: 10_000, resetMs: 5000 }],
  },
  'IETF draft 6': {
    headers: {
      'ratelimit-limit': '100',
      'ratelimit-remaining': '50',
      'ratelimit-reset': '5',
      'ratelimit-policy': '100;w=10',
    },
    limits: [{ limit: 100, remaining: 50, windowMs: 10_000, resetMs: 5000 }],
  },
  'IETF on a response from a cache': {
    headers: { age: '20', ratelimit: '"default";r=0;t=30' },
    limits: [],
  },
  'IETF malformed': { headers: { ratelimit: '"default;r=50', 'ratelimit-policy': ';;q=' }, limits: [] },
  GitHub: {
    host: 'api.github.com',
    headers: {
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '4999',
      'x-ratelimit-used': '1',
      'x-ratelimit-reset': String(EPOCH_SECS + 1800),
      'x-ratelimit-resource': 'core',
    },
    limits: [{ limit: 5000, remaining: 4999, windowMs: 3_600_000, resetMs: 1_800_000 }],
  },
  'GitLab: epoch seconds under the IETF name': {
    host: 'gitlab.com',
    headers: {
      'ratelimit-limit': '600',
      'ratelimit-observed': '1',
      'ratelimit-remaining': '599',
      'ratelimit-reset': String(EPOCH_SECS + 60),
      'ratelimit-resettime': 'Tue, 23 May 2023 10:01:00 GMT',
    },
    limits: [{ limit: 600, remaining: 599, windowMs: 60_000, resetMs: 60_000 }],
  },
  'GitLab behind a proxy that keeps only the text': {
    host: 'gitlab.com',
    headers: { 'ratelimit-limit': '600', 'ratelimit-resettime': 'Tue, 23 May 2023 10:01:00 GMT' },
    limits: [{ limit: 600, windowMs: 60_000, resetMs: 60_000 }],
  },
  X: {
    host: 'api.x.com',
    headers: {
      'x-rate-limit-limit': '900',
      'x-rate-limit-remaining': '899',
      'x-rate-limit-reset': String(EPOCH_SECS + 600),
    },
    limits: [{ limit: 900, remaining: 899, windowMs: 900_000, resetMs: 600_000 }],
  },
  Okta: {
    host: 'acme.okta.com',
    headers: {
      'x-rate-limit-limit': '600',
      'x-rate-limit-remaining': '598',
      'x-rate-limit-reset': String(EPOCH_SECS + 30),
    },
    limits: [{ limit: 600, remaining: 598, windowMs: 60_000, resetMs: 30_000 }],
  },
  'Okta, its concurrency limit hit': {
    host: 'acme.okta.com',
    status: 429,
    headers: {
      'x-rate-limit-limit': '0',
      'x-rate-limit-remaining': '0',
      'x-rate-limit-reset': String(EPOCH_SECS + 30),
    },
    limits: [{ remaining: 0, windowMs: 60_000, resetMs: 30_000 }],
  },
  Reddit: {
    host: 'oauth.reddit.com',
    headers: { 'x-ratelimit-used': '4', 'x-ratelimit-remaining': '596.0', 'x-ratelimit-reset': '598' },
    limits: [{ limit: 600, remaining: 596, windowMs: 600_000, resetMs: 598_000 }],
  },
  Zendesk: {
    host: 'acme.zendesk.com',
    headers: {
      'x-rate-limit': '700',
      'x-rate-limit-remaining': '699',
      'ratelimit-limit': '700',
      'ratelimit-remaining': '699',
      'ratelimit-reset': '41',
      'zendesk-ratelimit-tickets-index': 'total=100; remaining=99; resets=41',
    },
    limits: [
      { limit: 700, remaining: 699, windowMs: 60_000, resetMs: 41_000 },
      { limit: 100, remaining: 99, resetMs: 41_000 },
    ],
  },
  'Zendesk, its own names alone': {
    host: 'acme.zendesk.com',
    headers: { 'x-rate-limit': '700', 'x-rate-limit-remaining': '699' },
    limits: [{ limit: 700, remaining: 699, windowMs: 60_000 }],
  },
  'Discord: reset-after goes before the float epoch': {
    host: 'discord.com',
    headers: {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1470173023.123',
      'x-ratelimit-reset-after': '64.57',
      'x-ratelimit-bucket': 'abcd1234',
    },
    limits: [{ limit: 5, remaining: 0, resetMs: 64_570 }],
  },
  OpenAI: {
    host: 'api.openai.com',
    headers: {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-limit-tokens': '150000',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    limits: [{ limit: 60, remaining: 59, windowMs: 60_000, resetMs: 1000 }],
  },
  'Azure OpenAI: sentinels': {
    host: 'acme.openai.azure.com',
    headers: {
      'x-ratelimit-limit-requests': '-1',
      'x-ratelimit-remaining-requests': '-1',
      'x-ratelimit-reset-requests': '0',
    },
    limits: [],
  },
  Anthropic: {
    host: 'api.anthropic.com',
    headers: {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2023-05-23T10:00:02Z',
    },
    limits: [{ limit: 50, remaining: 49, windowMs: 60_000, resetMs: 2000 }],
  },
  'Jira: minutes': {
    headers: { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '9', 'x-ratelimit-reset': '2023-05-23T10:05Z' },
    limits: [{ limit: 100, remaining: 9, resetMs: 300_000 }],
  },
  'Cloudflare API': {
    headers: { ratelimit: '"default";r=1199;t=299', 'ratelimit-policy': '"default";q=1200;w=300' },
    limits: [{ limit: 1200, remaining: 1199, windowMs: 300_000, resetMs: 299_000 }],
  },
  'Linear: epoch ms': {
    headers: {
      'x-ratelimit-requests-limit': '1500',
      'x-ratelimit-requests-remaining': '1499',
      'x-ratelimit-requests-reset': String(WALL_MS + 3_600_000),
    },
    limits: [{ limit: 1500, remaining: 1499, resetMs: 3_600_000 }],
  },
  'Prisjakt: delta ms, by its first answer not to be told from seconds': {
    headers: { 'x-rate-limit-limit': '100', 'x-rate-limit-remaining': '99', 'x-rate-limit-reset': '600000' },
    limits: [{ limit: 100, remaining: 99, resetMs: 600_000_000 }],
  },
  'lemlist: Date.toString()': {
    headers: {
      'x-ratelimit-limit': '20',
      'x-ratelimit-remaining': '19',
      'x-ratelimit-reset': 'Tue May 23 2023 10:00:02 GMT+0000 (Coordinated Universal Time)',
    },
    limits: [{ limit: 20, remaining: 19, resetMs: 2000 }],
  },
  Shopify: {
    headers: { 'x-shopify-shop-api-call-limit': '32/40' },
    limits: [{ limit: 40, remaining: 8, windowMs: 20_000 }],
  },
  Salesforce: {
    headers: { 'sforce-limit-info': 'api-usage=10018/100000; api-bursts=1/750' },
    limits: [
      { limit: 100_000, remaining: 89_982, windowMs: 86_400_000 },
      { limit: 750, remaining: 749 },
    ],
  },
  HubSpot: {
    headers: {
      'x-hubspot-ratelimit-daily': '250000',
      'x-hubspot-ratelimit-daily-remaining': '249999',
      'x-hubspot-ratelimit-interval-milliseconds': '10000',
      'x-hubspot-ratelimit-max': '100',
      'x-hubspot-ratelimit-remaining': '99',
    },
    limits: [
      { limit: 100, remaining: 99, windowMs: 10_000 },
      { limit: 250_000, remaining: 249_999, windowMs: 86_400_000 },
    ],
  },
  'Azure Resource Manager': {
    headers: { 'x-ms-ratelimit-remaining-subscription-reads': '11999' },
    limits: [{ remaining: 11_999, windowMs: 3_600_000 }],
  },
  'Kong, old': {
    headers: {
      'x-ratelimit-limit-second': '5',
      'x-ratelimit-remaining-second': '4',
      'x-ratelimit-limit-minute': '100',
      'x-ratelimit-remaining-minute': '99',
    },
    limits: [
      { limit: 5, remaining: 4, windowMs: 1000 },
      { limit: 100, remaining: 99, windowMs: 60_000 },
    ],
  },
  Envoy: {
    headers: {
      'x-ratelimit-limit': '10, 10;window=1;name="per-ip", 1000;window=3600',
      'x-ratelimit-remaining': '9',
      'x-ratelimit-reset': '1',
    },
    limits: [
      { limit: 10, remaining: 9, windowMs: 1000, resetMs: 1000 },
      { limit: 1000, windowMs: 3_600_000 },
    ],
  },
  'Spring Cloud Gateway': {
    headers: {
      'x-ratelimit-remaining': '19',
      'x-ratelimit-replenish-rate': '10',
      'x-ratelimit-burst-capacity': '20',
      'x-ratelimit-requested-tokens': '2',
    },
    limits: [{ remaining: 19 }, { limit: 5, windowMs: 1000 }],
  },
  'express-rate-limit, legacy': {
    headers: {
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '99',
      'x-ratelimit-reset': String(EPOCH_SECS + 900),
      date: 'Tue, 23 May 2023 10:00:00 GMT',
    },
    limits: [{ limit: 100, remaining: 99, resetMs: 900_000 }],
  },
  'express-rate-limit, draft 8': {
    headers: {
      'ratelimit-policy': '"100-in-15min"; q=100; w=900; pk=:ZmE2MmE3ZjA2ZTI2:',
      ratelimit: '"100-in-15min"; r=99; t=900',
    },
    limits: [{ limit: 100, remaining: 99, windowMs: 900_000, resetMs: 900_000 }],
  },
  'slowapi: float epoch': {
    headers: {
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '4',
      'x-ratelimit-reset': `${EPOCH_SECS + 59}.5`,
    },
    limits: [{ limit: 5, remaining: 4, resetMs: 59_500 }],
  },
  'Shopify GraphQL, its cost in the body': {
    body: '{"data":{},"extensions":{"cost":{"requestedQueryCost":10,"actualQueryCost":10,"throttleStatus":{"maximumAvailable":1000.0,"currentlyAvailable":990,"restoreRate":50.0}}}}',
    limits: [{ limit: 5, remaining: 99, windowMs: 1000 }],
  },
};

test.for(Object.entries(rows))('reads limits: %s', ([, row]) => {
  expectLimits(row);
});

const bogusNumbers = ['-1', '-0', '1e400', 'inf', 'Infinity', 'NaN', 'soon', '', ' ', '0x10', '1,5', '9'.repeat(400)];

test.for(bogusNumbers)('takes the limit "%s" for nothing', (value) => {
  expectLimits({ headers: { 'x-ratelimit-limit': value, 'x-ratelimit-remaining': value }, limits: [] });
  expectLimits({ headers: { 'ratelimit-limit': value, 'ratelimit-reset': '5' }, limits: [] });
});

const bogusResets: Record<string, string> = {
  zero: '0',
  negative: '-5',
  'a past epoch': String(EPOCH_SECS - 10),
  'a past date': 'Tue, 23 May 2023 09:59:59 GMT',
  'an epoch far in the future': String(EPOCH_SECS + 60 * 365 * 86_400),
  'a date far in the future': 'Fri, 31 Dec 9999 23:59:59 GMT',
  infinite: '1e400',
  text: 'tomorrow',
  'a year that Date.parse would make of it': '2000',
};

test.for(Object.entries(bogusResets))('takes a reset that is %s for none, or for what it says', ([, value]) => {
  const [limit] = read({
    headers: { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9', 'x-ratelimit-reset': value },
  }).limits;
  expect(limit?.resetMs).toBe(value === '2000' ? 2_000_000 : null);
  expect(limit?.remaining).toBe(9);
});

const waits: Record<string, { headers: Record<string, string>; waitMs: number | null }> = {
  'delta seconds': { headers: { 'retry-after': '120' }, waitMs: 120_000 },
  'fractions of a second': { headers: { 'retry-after': '0.5' }, waitMs: 500 },
  'an HTTP-date (Attio)': { headers: { 'retry-after': 'Tue, 23 May 2023 10:00:30 GMT' }, waitMs: 30_000 },
  'an RFC 850 date': { headers: { 'retry-after': 'Tuesday, 23-May-23 10:00:30 GMT' }, waitMs: 30_000 },
  'an asctime date': { headers: { 'retry-after': 'Tue May 23 10:00:30 2023' }, waitMs: 30_000 },
  'ms beside seconds (OpenAI)': { headers: { 'retry-after-ms': '1500', 'retry-after': '2' }, waitMs: 1500 },
  'ms of 0 beside seconds': { headers: { 'retry-after-ms': '0', 'retry-after': '2' }, waitMs: 2000 },
  zero: { headers: { 'retry-after': '0' }, waitMs: null },
  negative: { headers: { 'retry-after': '-1' }, waitMs: null },
  'a past date': { headers: { 'retry-after': 'Tue, 23 May 2023 09:59:59 GMT' }, waitMs: null },
  'beyond all numbers': { headers: { 'retry-after': '1e400' }, waitMs: null },
  infinite: { headers: { 'retry-after': 'inf' }, waitMs: null },
  text: { headers: { 'retry-after': 'later' }, waitMs: null },
  'an ISO date, of which parseFloat makes 2026 seconds': {
    headers: { 'retry-after': '2026-12-01T00:00Z' },
    waitMs: null,
  },
  empty: { headers: { 'retry-after': '' }, waitMs: null },
  absent: { headers: {}, waitMs: null },
};

test.for(Object.entries(waits))('reads a wait: %s', ([, { headers, waitMs }]) => {
  expect(read({ status: 429, headers }).retryAfterMs).toBe(waitMs);
});

const refusals: Record<string, Omit<Row, 'limits'> & { kind: string | null; waitMs?: number }> = {
  'a 429': { status: 429, kind: 'limit' },
  'a 503': { status: 503, kind: 'overload' },
  'a 529 (Notion)': { status: 529, kind: 'overload' },
  'an ordinary 403': { status: 403, body: '{"message":"Forbidden"}', kind: null },
  'a 500': { status: 500, body: 'oops', kind: null },
  'GitHub, secondary limit': {
    host: 'api.github.com',
    status: 403,
    body: '{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}',
    kind: 'limit',
  },
  'GitHub, nothing remaining': {
    host: 'api.github.com',
    status: 403,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-limit': '60' },
    kind: 'limit',
  },
  'another host, 403 with nothing remaining': {
    status: 403,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-limit': '60' },
    kind: null,
  },
  'Google, user limit': {
    status: 403,
    body: '{"error":{"errors":[{"domain":"usageLimits","reason":"userRateLimitExceeded"}],"code":403}}',
    kind: 'limit',
  },
  'Google, daily limit': {
    status: 403,
    body: '{"error":{"errors":[{"domain":"usageLimits","reason":"dailyLimitExceeded"}],"code":403}}',
    kind: 'quota',
  },
  'GraphQL RATE_LIMITED in a 200 (GitHub)': {
    status: 200,
    body: '{"data":null,"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}',
    kind: 'limit',
  },
  'GraphQL THROTTLED in a 200 (Shopify)': {
    status: 200,
    body: '{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}]}',
    kind: 'limit',
  },
  'GraphQL RATELIMITED in a 400 (Linear)': {
    status: 400,
    body: '{"errors":[{"extensions":{"code":"RATELIMITED"}}]}',
    kind: 'limit',
  },
  'a 200 whose data merely mentions the word': {
    status: 200,
    body: '{"data":[{"type":"RATE_LIMITED"}]}',
    kind: null,
  },
  'Slack in a 200': { status: 200, body: '{"ok":false,"error":"ratelimited"}', kind: 'limit' },
  'X, code 88': { status: 403, body: '{"errors":[{"code":88,"message":"Rate limit exceeded"}]}', kind: 'limit' },
  Discord: {
    status: 429,
    body: '{"message": "You are being rate limited.", "retry_after": 64.57, "global": false}',
    kind: 'limit',
    waitMs: 64_570,
  },
  'a bogus retry_after': { status: 429, body: '{"retry_after": -3}', kind: 'limit' },
  'AWS API Gateway': { status: 429, body: '{"message":"Limit Exceeded"}', kind: 'limit' },
};

test.for(Object.entries(refusals))('tells a refusal for a limit from others: %s', ([, row]) => {
  const signals = read(row);
  expect(signals.refusal?.kind ?? null).toBe(row.kind);
  expect(signals.retryAfterMs).toBe(row.waitMs ?? null);
});

test('reads the bucket a server names', () => {
  expect(read({ headers: { 'x-ratelimit-resource': 'search' } }).bucket).toBe('search');
  expect(read({ headers: { 'x-ratelimit-bucket': 'abcd' } }).bucket).toBe('abcd');
  expect(read({ headers: { 'x-ratelimit-limit': '5' } }).bucket).toBeNull();
});

test('asks for a longer wait where the vendor does: Airtable 30 s, GitHub a minute', () => {
  expect(profileOf('api.airtable.com')?.leastWaitMs).toBe(30_000);
  expect(profileOf('api.github.com')?.leastWaitMs).toBe(60_000);
  expect(profileOf('api.example.com')).toBeUndefined();
});
