import { CrawlError, messageOf } from '../core/errors.ts';
import type { InvalidRow } from '../crawl/failure-record.ts';
import type { RequestData } from '../crawl/lean-request.ts';
import type { Route } from '../routes/define-route.ts';
import { check, DEFAULT_DATASET, type RouteResult, runRoute } from '../routes/run-route.ts';
import type { StoredRequest } from '../storage/store.ts';

/** A row of dataset `invalid` looked at once more: what takes its place, or why it stays. */
export type Rechecked = { kind: 'fits'; result: RouteResult } | { kind: 'stays'; reason: string };

/**
 * Checks a record, or a whole body, by the schemas its route has now. Pure.
 * @param request that brought it; null when it is not known
 */
export function recheckRow(row: InvalidRow, route: Route | null, request: StoredRequest | null): Rechecked {
  if (route === null) return { kind: 'stays', reason: `nothing here has the label "${row.label}"` };
  try {
    return row.loadedUrl === undefined ? recheckRecord(row, route, request) : recheckBody(row, route, request);
  } catch (error) {
    if (!(error instanceof CrawlError)) throw error;
    return { kind: 'stays', reason: messageOf(error) };
  }
}

function recheckRecord({ record }: InvalidRow, route: Route, request: StoredRequest | null): Rechecked {
  if (route.recheck === undefined && route.record === undefined)
    return { kind: 'stays', reason: `route "${route.label}" has no schema to check records by` };
  if (route.recheck !== undefined && request === null) return { kind: 'stays', reason: 'its request is not known' };
  const found = route.recheck?.(record, dataOf(request).userData ?? {}) ?? asRecord(check(route.record, record));
  if ('issues' in found) return stays(found.issues);
  const kept = { dataset: route.dataset ?? DEFAULT_DATASET, record: found.record };
  return { kind: 'fits', result: { records: [kept], invalid: [], requests: [], values: [] } };
}

function asRecord(checked: ReturnType<typeof check>): { record: unknown } | { issues: readonly string[] } {
  return 'issues' in checked ? checked : { record: checked.value };
}

// The headers of the response are not kept; a route that goes by them finds none.
function recheckBody(
  { record: body, loadedUrl, url }: InvalidRow,
  route: Route,
  request: StoredRequest | null,
): Rechecked {
  const checked = check(route.response, body);
  if ('issues' in checked) return stays(checked.issues);
  const { userData = {}, headers = {}, payload = null } = dataOf(request);
  const sent = { url, method: request?.method ?? 'GET', headers, payload };
  return {
    kind: 'fits',
    result: runRoute(route, { url: loadedUrl ?? url, status: 200, headers: {}, body, userData, request: sent }),
  };
}

function stays([first = 'it does not fit its schema']: readonly string[]): Rechecked {
  return { kind: 'stays', reason: first };
}

function dataOf(request: StoredRequest | null): RequestData {
  const data = request?.data ?? null;
  return data === null ? {} : (JSON.parse(data) as RequestData);
}
