import type { AuthConfig } from '../../config/api-schema.ts';
import type { Auth, AuthTools } from './auth.ts';
import { clientCredentialsAuth, refreshTokenAuth } from './oauth2.ts';
import { apiKeyAuth, bearerAuth, httpBasicAuth } from './static-auth.ts';

/**
 * Auth written in code: `export const auth = (options, tools) => ({ apply, onUnauthorized })`. References in the
 * options are filled in; `tools.vault.remember` makes further secrets known, so that they are concealed.
 */
export type AuthFactory = (options: Record<string, unknown>, tools: AuthTools) => Auth;

/** No credentials. */
export const noAuth: Auth = {
  apply: (request) => ({ request, ticket: 'none' }),
  onUnauthorized: async () => false,
};

/**
 * @param custom the factory a custom auth names, loaded already
 * @throws MissingSecretError
 */
export function createAuth(
  config: AuthConfig | undefined,
  tools: AuthTools,
  custom: (config: Extract<AuthConfig, { type: 'custom' }>) => AuthFactory,
): Auth {
  switch (config?.type) {
    case undefined:
      return noAuth;
    case 'bearer':
      return bearerAuth(config, tools.vault);
    case 'apiKey':
      return apiKeyAuth(config, tools.vault);
    case 'httpBasic':
      return httpBasicAuth(config, tools.vault);
    case 'oauth2ClientCredentials':
      return clientCredentialsAuth(config, tools);
    case 'oauth2RefreshToken':
      return refreshTokenAuth(config, tools);
    case 'custom':
      return custom(config)(revealAll(config.options, tools) as Record<string, unknown>, tools);
  }
}

function revealAll(value: unknown, tools: AuthTools): unknown {
  if (typeof value === 'string') return tools.vault.reveal(value);
  if (Array.isArray(value)) return value.map((item) => revealAll(item, tools));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revealAll(inner, tools)]));
}
