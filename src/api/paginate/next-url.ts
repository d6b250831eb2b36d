import type { PageResponse } from './paginator.ts';

/**
 * The URL a next link means.
 * @returns absolute; https where the page was https and only the scheme differs (servers behind a proxy often write
 *   http); undefined when it is no URL
 */
export function nextUrl(target: string, response: Pick<PageResponse, 'url'>): string | undefined {
  const page = new URL(response.url);
  const url = URL.parse(target, page.href);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (page.protocol === 'https:' && url.protocol === 'http:' && url.hostname === page.hostname && url.port === '')
    return url.href.replace(/^http:/, 'https:');
  // The text as the server wrote it, where it is complete: parsing would change the escapes of some.
  return /^https?:\/\//i.test(target) ? target : url.href;
}
