import type { HttpClient, HttpRequest, HttpResponse, HttpTimeouts } from '../../http/client.ts';
import type { UndiciClientOptions } from '../../http/undici-client.ts';

/** How measured requests are sent. */
export type MeasureTarget = {
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  http2: 'auto' | 'off';
  timeouts: HttpTimeouts;
};

/** Makes an HTTP client, which the caller closes. A new client has no connection, no DNS answer, no TLS session. */
export type OpenClient = (
  options?: Pick<UndiciClientOptions, 'resolve'> & { maxConnectionsPerOrigin?: number },
) => HttpClient;

/** Bodies beyond this are no JSON answers; design section 10. */
const MOST_BODY_BYTES = 64 * 1024 * 1024;

/** @returns the request of one hop */
export function requestTo({ url, headers, http2, timeouts }: MeasureTarget): HttpRequest {
  return {
    url,
    method: 'GET',
    headers: { ...headers },
    body: null,
    timeouts,
    maxBodyBytes: MOST_BODY_BYTES,
    proxyUrl: null,
    http2,
  };
}

/** @returns bytes of the body as it travelled, as seen or stated; those of the decoded body where neither is */
export function wireBytesOf({ wireBytes, headers, body }: HttpResponse): number {
  if (wireBytes !== undefined) return wireBytes;
  const stated = Number(headers['content-length']);
  return headers['content-length'] !== undefined && Number.isSafeInteger(stated) ? stated : body.length;
}
