import type { AuthConfig } from '../../config/api-schema.ts';
import type { OutgoingRequest } from '../../routes/define-route.ts';
import { withParam } from '../paginate/edit-request.ts';
import type { SecretVault } from '../references.ts';
import { type Auth, withHeader } from './auth.ts';

// Credentials that never change: another try with the same ones is no use.
const TICKET = 'static';

function staticAuth(edit: (request: OutgoingRequest) => OutgoingRequest, secretParam?: string): Auth {
  return {
    apply: (request) => ({ request: edit(request), ticket: TICKET }),
    onUnauthorized: async () => false,
    ...(secretParam === undefined ? {} : { secretParam }),
  };
}

/** Authorization: Bearer. @throws MissingSecretError */
export function bearerAuth(config: { token: string }, vault: SecretVault): Auth {
  const value = `Bearer ${secret(vault, config.token)}`;
  return staticAuth((request) => withHeader(request, 'authorization', value));
}

/** Authorization: Basic. @throws MissingSecretError @see RFC 7617 */
export function httpBasicAuth(config: { username: string; password: string }, vault: SecretVault): Auth {
  const value = basicCredentials(vault.reveal(config.username), secret(vault, config.password));
  vault.remember('<basic credentials>', value.slice('Basic '.length));
  return staticAuth((request) => withHeader(request, 'authorization', value));
}

/** A key in a header, a query parameter or a cookie. @throws MissingSecretError */
export function apiKeyAuth(config: Extract<AuthConfig, { type: 'apiKey' }>, vault: SecretVault): Auth {
  const value = secret(vault, config.value);
  switch (config.location) {
    case 'header':
      return staticAuth((request) => withHeader(request, config.name, value));
    case 'query':
      return staticAuth((request) => ({ ...request, url: withParam(request.url, config.name, value) }), config.name);
    case 'cookie':
      return staticAuth((request) =>
        withHeader(request, 'cookie', joinCookies(request.headers.cookie, config.name, value)),
      );
  }
}

function joinCookies(others: string | undefined, name: string, value: string): string {
  const pair = `${name}=${value}`;
  return others === undefined || others === '' ? pair : `${others}; ${pair}`;
}

/** @returns the value of an Authorization header */
export function basicCredentials(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

/** A secret by reference or typed literally: concealed either way. */
export function secret(vault: SecretVault, text: string): string {
  const value = vault.reveal(text);
  if (value === text) vault.remember('<secret>', value);
  return value;
}
