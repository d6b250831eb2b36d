import { isJsonObject, scalarText } from '../json-value.ts';
import { compileSelector } from '../selector.ts';
import { nextUrl } from './next-url.ts';
import { done, follow, type Paginator } from './paginator.ts';

/**
 * The body names the URL of the next page, as text or as `{href}`.
 * @throws SelectorSyntaxError
 */
export function jsonLinkPaginator(config: { nextUrlPath: string }): Paginator {
  const selector = compileSelector(config.nextUrlPath);
  return {
    first: (request) => ({ request, state: {} }),
    next(_state, response, request) {
      const found = selector.first(response.body);
      const target = isJsonObject(found) ? found.href : found;
      if (target === undefined || target === null || target === '' || target === false)
        return done(`${selector.text} is empty`);
      const url = typeof target === 'string' ? nextUrl(target, response) : undefined;
      if (url === undefined)
        return done(`${selector.text} is no URL`, {
          warning: `${selector.text} is ${scalarText(target) ?? 'an object'}, no URL: pages end here`,
        });
      return follow({ request: { ...request, url }, state: {} }, url);
    },
    total: () => null,
  };
}
