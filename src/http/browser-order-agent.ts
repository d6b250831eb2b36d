import type { ClientRequest } from 'node:http';
import { TransformHeadersAgent } from 'got-scraping';
import type { RouteAgent } from './route-agent.ts';

const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Writes headers in a browser's order and case, and no `Content-Length: 0` where a browser writes none. */
export class BrowserOrderAgent extends TransformHeadersAgent<RouteAgent> {
  override transformRequest(request: ClientRequest, options: { sortHeaders: boolean }): void {
    super.transformRequest(request, options);
    const isEmpty = Number(request.getHeader('content-length')) === 0;
    if (isEmpty && WITHOUT_BODY.has(request.method)) request.removeHeader('content-length');
  }
}
