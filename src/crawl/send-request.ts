import type { BaseHttpClient, Request, Session } from '@crawlee/core';

type SendRequestOptions = Record<string, unknown> & { headers?: Record<string, string> };

/** Crawlee's `context.sendRequest`: one more request with the page's URL, method, headers, session and proxy. */
export function sendRequestOf(
  client: BaseHttpClient,
  { request, session, proxyUrl }: { request: Request; session: Session | undefined; proxyUrl: string | undefined },
) {
  return async (overrides: SendRequestOptions = {}): Promise<unknown> => {
    const cookie = session?.getCookieString(request.url);
    return client.sendRequest({
      url: request.url,
      method: request.method as never,
      body: request.payload,
      proxyUrl,
      sessionToken: session,
      responseType: 'text',
      ...overrides,
      headers: { ...request.headers, ...(cookie ? { cookie } : {}), ...overrides.headers },
    });
  };
}
