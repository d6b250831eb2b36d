import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Clock } from '../core/clock.ts';
import { randomHex } from '../core/random.ts';
import { SECOND_MS } from '../core/units.ts';
import { basicOf } from './credentials-of.ts';
import { PRACTICE_CREDENTIALS as KNOWN } from './options.ts';

/** What the token endpoint answers (RFC 6749 section 5.1). */
export type TokenAnswer = { access_token: string; token_type: 'Bearer'; expires_in: number; refresh_token: string };

/** Gives out access tokens that expire, and refresh tokens that work once. */
export class TokenOffice {
  readonly #clock: Clock;
  readonly #lifetimeSecs: number;
  readonly #expiryMs = new Map<string, number>();
  readonly #refreshTokens = new Set<string>();

  constructor({ clock, lifetimeSecs }: { clock: Clock; lifetimeSecs: number }) {
    this.#clock = clock;
    this.#lifetimeSecs = lifetimeSecs;
  }

  issue(): TokenAnswer {
    this.#forgetExpired();
    const accessToken = randomHex(16);
    const refreshToken = randomHex(16);
    this.#expiryMs.set(accessToken, this.#clock.nowMs() + this.#lifetimeSecs * SECOND_MS);
    this.#refreshTokens.add(refreshToken);
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: this.#lifetimeSecs,
      refresh_token: refreshToken,
    };
  }

  /** @returns a new pair; undefined when the refresh token is unknown or was used before */
  refresh(refreshToken: string): TokenAnswer | undefined {
    return this.#refreshTokens.delete(refreshToken) ? this.issue() : undefined;
  }

  isValid(accessToken: string): boolean {
    return (this.#expiryMs.get(accessToken) ?? 0) > this.#clock.nowMs();
  }

  #forgetExpired(): void {
    for (const [token, expiryMs] of this.#expiryMs) if (expiryMs <= this.#clock.nowMs()) this.#expiryMs.delete(token);
  }
}

/** `POST /oauth/token`, form or JSON: grants client_credentials and refresh_token, errors by RFC 6749 section 5.2. */
export function addTokenEndpoint(app: FastifyInstance, tokens: TokenOffice): void {
  app.post('/oauth/token', (request, reply) => {
    reply.header('cache-control', 'no-store');
    const form = (request.body ?? {}) as Record<string, unknown>;
    if (!isKnownClient(request, form)) return reply.code(401).send(refusal('invalid_client'));
    if (form.grant_type === 'client_credentials') return reply.send(tokens.issue());
    if (form.grant_type !== 'refresh_token') return reply.code(400).send(refusal('unsupported_grant_type'));
    const answer = tokens.refresh(String(form.refresh_token));
    return answer ? reply.send(answer) : reply.code(400).send(refusal('invalid_grant'));
  });
}

function isKnownClient(request: FastifyRequest, form: Record<string, unknown>): boolean {
  const basic = basicOf(request);
  const id = basic?.username ?? form.client_id;
  const secret = basic?.password ?? form.client_secret;
  return id === KNOWN.clientId && secret === KNOWN.clientSecret;
}

function refusal(error: string): { error: string; error_description: string } {
  return { error, error_description: 'GET / lists the client credentials that work' };
}
