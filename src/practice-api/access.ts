import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError, sendJson } from './answers.ts';
import type { Catalogue } from './catalogue.ts';
import { basicOf, bearerOf, cookieOf } from './credentials-of.ts';
import { PRACTICE_CREDENTIALS as KNOWN } from './options.ts';
import { cursorPage, queryOf } from './product-lists.ts';
import type { TokenOffice } from './token-office.ts';

/** Tells whether a request may pass; `challenge` is the WWW-Authenticate of a refusal. */
type Scheme = { challenge: string; admits: (request: FastifyRequest) => boolean };

/** The product list once more for each way to say who one is: `/auth/<scheme>/products`, 401 without. */
export function addAccess(app: FastifyInstance, catalogue: Catalogue, tokens: TokenOffice): void {
  for (const [name, scheme] of Object.entries(schemes(tokens))) {
    app.get(`/auth/${name}/products`, (request, reply) => {
      if (!scheme.admits(request)) throw unauthorized(scheme.challenge);
      return sendJson({ request, reply }, cursorPage(catalogue, queryOf(request)));
    });
  }
}

function schemes(tokens: TokenOffice): Record<string, Scheme> {
  return {
    bearer: { challenge: 'Bearer', admits: (request) => bearerOf(request) === KNOWN.bearerToken },
    basic: { challenge: 'Basic realm="practice"', admits: hasBasicCredentials },
    oauth: {
      challenge: 'Bearer error="invalid_token"',
      admits: (request) => tokens.isValid(bearerOf(request) ?? ''),
    },
    'api-key-header': { challenge: 'ApiKey', admits: (request) => request.headers['x-api-key'] === KNOWN.apiKey },
    'api-key-query': { challenge: 'ApiKey', admits: (request) => queryOf(request).api_key === KNOWN.apiKey },
    'api-key-cookie': { challenge: 'ApiKey', admits: (request) => cookieOf(request, 'api_key') === KNOWN.apiKey },
  };
}

function hasBasicCredentials(request: FastifyRequest): boolean {
  const given = basicOf(request);
  return given?.username === KNOWN.username && given.password === KNOWN.password;
}

function unauthorized(challenge: string): ApiError {
  const message = 'Credentials are missing, wrong or expired; GET / lists those that work';
  return new ApiError({ status: 401, code: 'unauthorized', message, headers: { 'www-authenticate': challenge } });
}
