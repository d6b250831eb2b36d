import { DAY_MS, HOUR_MS, SECOND_MS } from '../../core/units.ts';
import { parseCount, parseLimit, type ReadContext, type StatedLimit, statedLimit } from './stated-limit.ts';
import type { HeaderReader } from './x-ratelimit.ts';

type Reader = (header: HeaderReader, context: ReadContext) => StatedLimit[];

/** Reads limits written like nobody else writes them. */
export const readVendors: Reader = (header, context) => READERS.flatMap((read) => read(header, context));

const USED_OF = /^\s*(\d{1,15})\s*\/\s*(\d{1,15})\s*$/;
// Shopify: the bucket leaks its whole size in 20 s on every plan (40 at 2/s, 400 at 20/s).
const SHOPIFY_BUCKET_MS = 20 * SECOND_MS;

/** `X-Shopify-Shop-Api-Call-Limit: 32/40` */
function readShopify(header: HeaderReader): StatedLimit[] {
  const found = USED_OF.exec(header('x-shopify-shop-api-call-limit') ?? '');
  return usedOf({ name: 'shop', used: found?.[1], limit: found?.[2], windowMs: SHOPIFY_BUCKET_MS });
}

const SALESFORCE_USAGE = /\bapi-(usage|bursts)=(\d{1,15})\/(\d{1,15})/g;

/** `Sforce-Limit-Info: api-usage=10018/100000; api-bursts=1/750` */
function readSalesforce(header: HeaderReader): StatedLimit[] {
  return [...(header('sforce-limit-info') ?? '').matchAll(SALESFORCE_USAGE)].flatMap(([, name, used, limit]) =>
    usedOf({ name: `api-${name}`, used, limit, windowMs: name === 'usage' ? DAY_MS : undefined }),
  );
}

function usedOf(read: {
  name: string;
  used: string | undefined;
  limit: string | undefined;
  windowMs: number | undefined;
}): StatedLimit[] {
  const limit = parseLimit(read.limit);
  const used = parseCount(read.used);
  if (limit === undefined || used === undefined) return [];
  const remaining = Math.max(0, limit - used);
  return [statedLimit({ name: read.name, limit, remaining, windowMs: read.windowMs }) ?? []].flat();
}

/** `X-HubSpot-RateLimit-Max`, `-Remaining`, `-Interval-Milliseconds`, and `-Daily`, `-Daily-Remaining` */
function readHubSpot(header: HeaderReader): StatedLimit[] {
  const short = statedLimit({
    name: 'interval',
    limit: parseLimit(header('x-hubspot-ratelimit-max')),
    remaining: parseCount(header('x-hubspot-ratelimit-remaining')),
    windowMs: parseLimit(header('x-hubspot-ratelimit-interval-milliseconds')),
  });
  const daily = statedLimit({
    name: 'daily',
    limit: parseLimit(header('x-hubspot-ratelimit-daily')),
    remaining: parseCount(header('x-hubspot-ratelimit-daily-remaining')),
    windowMs: DAY_MS,
  });
  return [short, daily].filter((read) => read !== undefined);
}

/** Spring Cloud Gateway states its token bucket: tokens a second, and how many a request takes. */
function readSpring(header: HeaderReader): StatedLimit[] {
  const perSecond = parseLimit(header('x-ratelimit-replenish-rate'));
  if (perSecond === undefined) return [];
  const perRequest = parseLimit(header('x-ratelimit-requested-tokens')) ?? 1;
  const limit = perSecond / perRequest;
  return [statedLimit({ name: 'replenish', limit, windowMs: SECOND_MS }) ?? []].flat();
}

/** `zendesk-ratelimit-tickets-index: total=100; remaining=99; resets=41` */
const ZENDESK_ENDPOINTS = [
  'zendesk-ratelimit-tickets-index',
  'zendesk-ratelimit-users-index',
  'zendesk-ratelimit-incremental',
];
const ZENDESK_LIMIT = /^total=(\d{1,15}); ?remaining=(\d{1,15}); ?resets=(\d{1,15})$/;

function readZendesk(header: HeaderReader): StatedLimit[] {
  return ZENDESK_ENDPOINTS.flatMap((name) => {
    const found = ZENDESK_LIMIT.exec(header(name) ?? '');
    if (!found) return [];
    const resetSecs = parseLimit(found[3]);
    return (
      statedLimit({
        name,
        limit: parseLimit(found[1]),
        remaining: parseCount(found[2]),
        resetMs: resetSecs === undefined ? undefined : resetSecs * SECOND_MS,
      }) ?? []
    );
  });
}

const AZURE_REMAINING = [
  'x-ms-ratelimit-remaining-subscription-reads',
  'x-ms-ratelimit-remaining-subscription-writes',
  'x-ms-ratelimit-remaining-tenant-reads',
];

/** Azure Resource Manager tells only what is left of an hour's budget. */
function readAzure(header: HeaderReader): StatedLimit[] {
  return AZURE_REMAINING.flatMap(
    (name) => statedLimit({ name, remaining: parseCount(header(name)), windowMs: HOUR_MS }) ?? [],
  );
}

const READERS: readonly Reader[] = [readShopify, readSalesforce, readHubSpot, readSpring, readZendesk, readAzure];
