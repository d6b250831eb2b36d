import { type BaseHttpClient, processHttpRequestOptions, type Request, type Session } from '@crawlee/core';

type SendRequestOptions = Record<string, unknown> & { cookieJar?: object };

/** Crawlee's `context.sendRequest`: one more request with the page's URL, method, headers, session and proxy. */
export function sendRequestOf(
  client: BaseHttpClient,
  { request, session, proxyUrl }: { request: Request; session: Session | undefined; proxyUrl: string | undefined },
) {
  return async (overrides: SendRequestOptions = {}): Promise<unknown> => {
    const options = processHttpRequestOptions({
      url: request.url,
      method: request.method as never,
      headers: request.headers,
      proxyUrl,
      sessionToken: session,
      responseType: 'text',
      ...overrides,
      ...cookiesOf(session, overrides),
    } as Parameters<typeof processHttpRequestOptions>[0]);
    options.body ??= request.payload;
    return client.sendRequest(options);
  };
}

/** Cookies of the answer are the session's, too. */
function cookiesOf(session: Session | undefined, { cookieJar }: SendRequestOptions): { cookieJar?: object } {
  if (session === undefined) return cookieJar === undefined ? {} : { cookieJar };
  return {
    cookieJar: {
      getCookieString: async (url: string) => session.getCookieString(url),
      setCookie: async (cookie: string, url: string) => session.setCookie(cookie, url),
      ...cookieJar,
    },
  };
}
