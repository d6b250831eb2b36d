import type { Decision, Limiter } from './limiters.ts';

/** What a limited server tells its clients. */
export type HeaderStyle = 'none' | 'retry-after' | 'http-date' | 'ietf' | 'x-ratelimit';

export type AnswerStyle = { headers: HeaderStyle; refusalStatus: number };

/**
 * The headers of one answer.
 * @param wallMs the server's clock, Unix epoch ms
 */
export function answerHeaders(style: HeaderStyle, facts: { limiter: Limiter; decision: Decision; wallMs: number }) {
  const { limiter, decision, wallMs } = facts;
  const headers: Record<string, string> = { date: new Date(wallMs).toUTCString() };
  if (style === 'none') return headers;
  if (!decision.accepted) headers['retry-after'] = retryAfter(style, decision.waitMs, wallMs);
  if (limiter.policy === null) return headers;
  const limit = Math.floor(limiter.policy.limit);
  if (style === 'ietf') {
    headers['ratelimit-policy'] = `"default";q=${limit};w=${Math.ceil(limiter.policy.windowMs / 1000)}`;
    headers.ratelimit = `"default";r=${decision.remaining};t=${Math.ceil(decision.resetMs / 1000)}`;
  }
  if (style === 'x-ratelimit') {
    headers['x-ratelimit-limit'] = String(limit);
    headers['x-ratelimit-remaining'] = String(decision.remaining);
    headers['x-ratelimit-reset'] = String(Math.ceil((wallMs + decision.resetMs) / 1000));
  }
  return headers;
}

/** Both forms have whole seconds: rounded up, so that nobody is told too little. */
function retryAfter(style: HeaderStyle, waitMs: number, wallMs: number): string {
  if (style === 'http-date') return new Date(Math.ceil((wallMs + waitMs) / 1000) * 1000).toUTCString();
  return String(Math.max(1, Math.ceil(waitMs / 1000)));
}
