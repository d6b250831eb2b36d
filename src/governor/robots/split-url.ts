/** A URL's origin ("https://a.example:8443") and its path with query ("/a?b"), as robots.txt sees them. */
export type SplitUrl = { origin: string; path: string };

// As the URL parser writes them, which is how nearly all come: nothing to normalise.
const NORMALISED = /^(https?:\/\/[a-z0-9.-]+(?::\d+)?)(\/[^#]*)/;
const DEFAULT_PORT = /^(?:http:.*:80|https:.*:443)$/;

/**
 * @param url absolute, http or https
 * @throws TypeError when it is no URL
 */
export function splitUrl(url: string): SplitUrl {
  const parts = NORMALISED.exec(url);
  if (parts !== null && !DEFAULT_PORT.test(parts[1] as string))
    return { origin: parts[1] as string, path: parts[2] as string };
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}
