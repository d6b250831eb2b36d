import { CrawlError, messageOf } from '../../core/errors.ts';
import { headerText, type ResponseHeaders } from '../../core/headers.ts';
import { parseRetryAfter } from '../signals/retry-after.ts';

/**
 * Fetches one URL, redirects not followed, through the crawl's own client and pacing.
 * Rejects when no response comes, for whatever reason.
 */
export type FetchText = (
  url: string,
  signal: AbortSignal,
) => Promise<{ status: number; headers: ResponseHeaders; text: string }>;

/** What a robots.txt URL led to. */
export type FetchedRobots =
  | { kind: 'file'; text: string }
  /** There is none: everything is allowed. */
  | { kind: 'absent'; reason: string }
  /** Nobody can tell: nothing is allowed for now. */
  | { kind: 'unreachable'; reason: string; retryAfterMs: number | null };

// RFC 9309 2.3.1.2: at least five consecutive redirects should be followed, even across authorities.
const MOST_REDIRECTS = 5;

type Hop = { url: string; redirectsLeft: number };

/** Fetches an origin's robots.txt. Never rejects but with the signal's reason. */
export async function fetchRobots(
  origin: string,
  { fetchText, wallMs, signal }: { fetchText: FetchText; wallMs: () => number; signal: AbortSignal },
): Promise<FetchedRobots> {
  let hop: Hop | null = { url: `${origin}/robots.txt`, redirectsLeft: MOST_REDIRECTS };
  while (hop !== null) {
    try {
      const response = await fetchText(hop.url, signal);
      const next = nextHop(hop, response);
      if (next === null) return classify(response, wallMs());
      hop = next === 'lost' ? null : next;
    } catch (error) {
      signal.throwIfAborted();
      if (isRefusedByUs(error)) return { kind: 'absent', reason: messageOf(error) };
      return { kind: 'unreachable', reason: messageOf(error), retryAfterMs: null };
    }
  }
  return { kind: 'absent', reason: `its redirects lead nowhere (${MOST_REDIRECTS} are followed)` };
}

// What we refuse to ask for is refused for the page as well, at once: waiting would not change it.
function isRefusedByUs(error: unknown): boolean {
  return error instanceof CrawlError && (error.code === 'BLOCKED_ADDRESS' || error.code === 'INVALID_URL');
}

type Response = Awaited<ReturnType<FetchText>>;

/** @returns the redirect's target; null when there is nothing to follow; 'lost' for one that leads nowhere */
function nextHop(hop: Hop, { status, headers }: Response): Hop | 'lost' | null {
  if (status < 300 || status > 399) return null;
  const target = URL.parse(headerText(headers, 'location') ?? '', hop.url);
  const canFollow = target !== null && /^https?:$/.test(target.protocol) && hop.redirectsLeft > 0;
  if (!canFollow || headers.location === undefined) return 'lost';
  target.hash = '';
  return { url: target.href, redirectsLeft: hop.redirectsLeft - 1 };
}

// RFC 9309 2.3.1: 2xx is the file; other 4xx mean that there is none; 5xx that nobody can tell, and so does 429, by
// which a server says that it could not answer now.
function classify({ status, headers, text }: Response, wallMs: number): FetchedRobots {
  const reason = `it answered ${status}`;
  if (status >= 200 && status <= 299) return { kind: 'file', text };
  if (status >= 400 && status <= 499 && status !== 429) return { kind: 'absent', reason };
  const retryAfterMs = parseRetryAfter(headerText(headers, 'retry-after'), wallMs) ?? null;
  return { kind: 'unreachable', reason, retryAfterMs };
}
