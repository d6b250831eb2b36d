/** What to do about a failure, by code: one sentence, naming the option where there is one. */
const ADVICE: Readonly<Record<string, string>> = {
  DNS_NOT_FOUND: 'The name does not exist: check the spelling of the host.',
  DNS_FAILED: 'The name could not be looked up: check this machine\'s resolver, then "millrace retry-failed".',
  CONNECTION_REFUSED: 'Nothing listens there: check the port, or whether the service is up.',
  CONNECTION_RESET: 'The server cut connections: lower maxConcurrency for the host, then "millrace retry-failed".',
  CONNECTION_FAILED: 'No connection came about: check network, firewall and proxy.',
  TIMEOUT_CONNECT: 'The host did not accept connections in time: raise timeouts.connectMs or lower maxConcurrency.',
  TIMEOUT_FIRST_BYTE: 'The server took too long to answer: raise timeouts.firstByteMs or lower maxConcurrency.',
  TIMEOUT_IDLE: 'Responses stopped half-way: raise timeouts.idleMs, or ask for smaller pages.',
  TIMEOUT_TOTAL: 'Responses took too long as a whole: raise timeouts.totalMs (--timeout), or ask for smaller pages.',
  TLS_FAILED: 'The certificate was refused: check the host name, and the clock and root certificates of this machine.',
  HTTP_PROTOCOL: 'The server broke HTTP: try http2: off, or httpClient: got-scraping for the host.',
  TRUNCATED_BODY: 'Bodies ended early: lower maxConcurrency for the host, then "millrace retry-failed".',
  BAD_ENCODING: 'Bodies could not be decompressed: send the header "accept-encoding: identity".',
  TOO_LARGE: 'Bodies were larger than maxBodyBytes: raise it, or ask for smaller pages.',
  PROXY_FAILED: 'The proxy failed: check its URL and credentials under sessionPool.proxyUrls.',
  BLOCKED_ADDRESS: 'The target is a private address: set blockPrivateAddresses to false if that is meant.',
  INVALID_URL: 'The URL cannot be read: correct it in the input.',
  INVALID_JSON: 'The body is no JSON: look at bodyExcerpt in dataset "failures"; it may be a login or error page.',
  EMPTY_BODY: 'The body is empty: check whether the endpoint answers this method.',
  UNKNOWN_LABEL: 'No route has this label: add it to src/routes/index.ts.',
  SCHEMA_MISMATCH: 'The response does not fit the route\'s schema: correct it, then "millrace revalidate".',
  HANDLER_FAILED: 'The route\'s own code threw: see message in dataset "failures".',
  HANDLER_TIMEOUT: 'The route took longer than timeouts.handlerMs: make it faster, or raise it.',
  TOO_MANY_REDIRECTS: 'The redirects never end: check the URL, and whether the API wants a cookie or a login.',
  HOST_NOT_ALLOWED: 'A redirect or follow-up leaves the host: name the other host under followHosts.',
  RATE_LIMITED: 'The host kept asking for less: lower requestsPerSecond for it, then "millrace retry-failed".',
  POISON: 'The process died each time it worked on this request: look at its route and the size of its response.',
  ROBOTS: 'Forbidden by robots.txt: ask the operator; --ignore-robots if you have leave.',
};

const STATUS_ADVICE: Readonly<Record<number, string>> = {
  400: 'The server does not understand the request: check parameters and body.',
  401: 'The server wants credentials: set them by --header or auth; they may have expired.',
  403: 'The credentials do not allow this, or the server blocks this client: check the account, and --contact.',
  404: 'The page does not exist: check the list of URLs.',
  405: 'The endpoint does not take this method: set --method.',
  406: 'The server cannot answer in this format: send the header "accept: application/json".',
  408: 'The server gave up waiting for the request: lower maxConcurrency, then "millrace retry-failed".',
  409: 'The server reports a conflict: see bodyExcerpt in dataset "failures".',
  410: 'The page is gone for good: take it out of the list.',
  413: 'The request body is too large for the server: send smaller ones.',
  414: 'The URL is too long for the server: send fewer parameters, or a POST.',
  415: 'The server wants another content type: send the header "content-type: application/json".',
  422: 'The server refuses the parameters: see bodyExcerpt in dataset "failures".',
  429: 'The server asked for less: lower requestsPerSecond for the host, then "millrace retry-failed".',
  451: 'Not available for legal reasons.',
  500: 'The server failed: "millrace retry-failed" later; if always the same URLs fail, tell its operator.',
  501: 'The server does not implement this: check the method.',
  502: 'A gateway got no answer: lower maxConcurrency for the host, then "millrace retry-failed".',
  503: 'The server was overloaded or down: lower maxConcurrency for the host, then "millrace retry-failed".',
  504: 'A gateway waited too long: lower maxConcurrency for the host, then "millrace retry-failed".',
};

/**
 * @param code stable code of a failure: one of HttpErrorCode, HTTP_<status>, or the crawl's own
 * @returns one sentence; a general one for a code nobody foresaw
 */
export function adviceFor(code: string): string {
  const known = ADVICE[code];
  if (known !== undefined) return known;
  const status = Number(/^(?:HTTP_|STATUS_)?(\d{3})$/.exec(code)?.[1] ?? Number.NaN);
  if (STATUS_ADVICE[status] !== undefined) return STATUS_ADVICE[status];
  if (status >= 500) return STATUS_ADVICE[500] as string;
  if (status >= 400) return STATUS_ADVICE[400] as string;
  if (code.startsWith('TIMEOUT')) return ADVICE.TIMEOUT_TOTAL as string;
  return 'See message and bodyExcerpt in dataset "failures".';
}
