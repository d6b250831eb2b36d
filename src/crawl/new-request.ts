import { Request, type RequestOptions, type Source } from '@crawlee/core';
import { hostOf } from '../core/host.ts';
import { uniqueKeyOf } from '../core/unique-key.ts';
import type { FollowUp } from '../routes/define-route.ts';
import type { NewRequest } from '../storage/store.ts';
import { dataOf, type RequestData } from './lean-request.ts';

/** What Crawlee's addRequests takes: a URL, options, or a Request. */
export type RequestSource = string | Source | Request;

/**
 * A request to be stored, from what a route asks for.
 * @param base the URL a relative one is resolved against, and the label it inherits
 * @throws TypeError when the URL is not valid
 */
export function fromFollowUp(followUp: FollowUp, base: { url: string; label: string | null }): NewRequest {
  const url = new URL(followUp.url, base.url).href;
  const method = followUp.method?.toUpperCase() ?? 'GET';
  const data: RequestData = {};
  if (followUp.payload !== undefined) data.payload = followUp.payload;
  if (followUp.headers !== undefined) data.headers = followUp.headers;
  if (followUp.userData !== undefined) data.userData = followUp.userData;
  return {
    uniqueKey: followUp.uniqueKey ?? uniqueKeyOf({ url, method, payload: followUp.payload }),
    url,
    host: hostOf(url),
    method,
    label: followUp.label ?? base.label,
    data: Object.keys(data).length > 0 ? JSON.stringify(data) : null,
  };
}

/**
 * A request to be stored, from what Crawlee's addRequests takes.
 * @throws TypeError when the URL is not valid; Error for `requestsFromUrl`, which is not supported
 */
export function fromSource(source: RequestSource, crawlDepth?: number): NewRequest {
  const options: RequestOptions = typeof source === 'string' ? { url: source } : (source as RequestOptions);
  if ('requestsFromUrl' in options) {
    throw new Error(
      'requestsFromUrl is not supported: give the list of URLs as a file, for example `millrace urls.txt`',
    );
  }
  const request = source instanceof Request ? source : new Request({ ...options });
  if (crawlDepth !== undefined && request.crawlDepth === 0) request.crawlDepth = crawlDepth;
  const url = new URL(request.url).href;
  const method = request.method;
  const data = dataOf(request);
  return {
    uniqueKey: explicitKey(request, options) ?? uniqueKeyOf({ url, method, payload: request.payload }),
    url,
    host: hostOf(url),
    method,
    label: request.label ?? null,
    data: data === undefined ? null : JSON.stringify(data),
  };
}

/** A key the user chose. One that Crawlee computed would drop parts of the URL that tell requests apart. */
function explicitKey(request: Request, options: RequestOptions): string | undefined {
  if (!(options instanceof Request)) return options.uniqueKey;
  const { url, method, payload } = request;
  const computed = [false, true].map((useExtendedUniqueKey) =>
    Request.computeUniqueKey({ url, method, payload, keepUrlFragment: false, useExtendedUniqueKey }),
  );
  return computed.includes(request.uniqueKey) ? undefined : request.uniqueKey;
}
