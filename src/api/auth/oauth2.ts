import type { AuthConfig } from '../../config/api-schema.ts';
import { messageOf } from '../../core/errors.ts';
import { ApiError } from '../api-error.ts';
import { isJsonObject, type JsonObject, numberIn } from '../json-value.ts';
import { type Auth, type AuthTools, withHeader } from './auth.ts';
import { basicCredentials, secret } from './static-auth.ts';
import { renewalMs, type Token, TokenSource } from './token-source.ts';

type ClientCredentials = Extract<AuthConfig, { type: 'oauth2ClientCredentials' }>;
type RefreshToken = Extract<AuthConfig, { type: 'oauth2RefreshToken' }>;

/** OAuth 2.0 client credentials. @throws MissingSecretError @see RFC 6749 4.4 */
export function clientCredentialsAuth(config: ClientCredentials, tools: AuthTools): Auth {
  const grant = { grant_type: 'client_credentials' };
  return tokenAuth(config, tools, () => grant);
}

/**
 * OAuth 2.0 refresh token. A rotated token is used from then on, but not kept: it is a secret, and the configuration
 * is the user's; the log says so once.
 * @throws MissingSecretError
 * @see RFC 6749 6
 */
export function refreshTokenAuth(config: RefreshToken, tools: AuthTools): Auth {
  const configured = secret(tools.vault, config.refreshToken);
  let refreshToken = configured;
  return tokenAuth(
    config,
    tools,
    () => ({ grant_type: 'refresh_token', refresh_token: refreshToken }),
    (answer) => {
      const rotated = answer.refresh_token;
      if (typeof rotated !== 'string' || rotated === refreshToken) return;
      if (refreshToken === configured)
        tools.log.warn(
          'The server has replaced the refresh token: put a new one into the configuration before the next run',
        );
      tools.vault.remember('<refresh token>', rotated);
      refreshToken = rotated;
    },
  );
}

function tokenAuth(
  config: ClientCredentials | RefreshToken,
  tools: AuthTools,
  grant: () => Record<string, string>,
  onAnswer: (answer: JsonObject) => void = () => {},
): Auth {
  const endpoint = tokenEndpoint(config, tools);
  const source = new TokenSource({
    clock: tools.clock,
    async fetchToken() {
      const answer = await endpoint(grant());
      onAnswer(answer);
      return tokenFrom(answer, config.renewBeforeSecs, tools);
    },
  });
  return {
    async apply(request) {
      const { token, generation } = await source.get();
      return { request: withHeader(request, 'authorization', `Bearer ${token}`), ticket: String(generation) };
    },
    onUnauthorized: (ticket) => source.refused(Number(ticket)),
  };
}

/** Posts a grant; a refusal of the credentials is final and answered from memory after the first time. */
function tokenEndpoint(
  config: ClientCredentials | RefreshToken,
  tools: AuthTools,
): (grant: Record<string, string>) => Promise<JsonObject> {
  const { vault } = tools;
  const url = new URL(vault.reveal(config.tokenUrl), tools.baseUrl).href;
  const client = {
    id: vault.reveal(config.clientId),
    secret: config.clientSecret === undefined ? null : secret(vault, config.clientSecret),
  };
  const params = Object.fromEntries(Object.entries(config.params).map(([name, value]) => [name, vault.reveal(value)]));
  const inBody = config.clientAuth === 'body' || client.secret === null;
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    ...(inBody
      ? {}
      : { authorization: basicCredentials(encodeURIComponent(client.id), encodeURIComponent(client.secret!)) }),
  };
  let refusal: ApiError | null = null;
  return async (grant) => {
    if (refusal !== null) throw refusal;
    const form = new URLSearchParams({ ...grant, ...params });
    if (config.scopes.length > 0) form.set('scope', config.scopes.join(' '));
    if (inBody) form.set('client_id', client.id);
    if (inBody && client.secret !== null) form.set('client_secret', client.secret);
    try {
      return await postForm({ url, headers, body: form.toString() }, tools);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'AUTH_FAILED') refusal = error;
      throw error;
    }
  };
}

async function postForm(
  request: { url: string; headers: Record<string, string>; body: string },
  tools: AuthTools,
): Promise<JsonObject> {
  const where = `token endpoint ${new URL(request.url).host}`;
  let response: Awaited<ReturnType<AuthTools['fetch']>>;
  try {
    response = await tools.fetch({ ...request, method: 'POST' });
  } catch (error) {
    const message = tools.vault.conceal(`${where}: ${messageOf(error)}`);
    throw new ApiError({ code: 'AUTH_UNREACHABLE', message, recovery: 'retry' }, { cause: error });
  }
  const answer = parseObject(response.body);
  if (response.status >= 200 && response.status < 300 && typeof answer.access_token === 'string') return answer;
  throw refusalOf({ where, status: response.status, answer }, tools);
}

function refusalOf(facts: { where: string; status: number; answer: JsonObject }, tools: AuthTools): ApiError {
  const { where, status, answer } = facts;
  const said = [answer.error, answer.error_description].filter((text) => typeof text === 'string').join(': ');
  const message = tools.vault.conceal(
    `${where} answered ${status}${said === '' ? ' without an access_token' : `: ${said}`}`,
  );
  const isTemporary = status === 429 || status >= 500;
  return isTemporary
    ? new ApiError({ code: 'AUTH_UNREACHABLE', message, recovery: 'retry' })
    : new ApiError({ code: 'AUTH_FAILED', message, recovery: 'stop' });
}

function tokenFrom(answer: JsonObject, renewBeforeSecs: number, tools: AuthTools): Token {
  const value = answer.access_token as string;
  tools.vault.remember('<access token>', value);
  const expiresInSecs = numberIn(answer.expires_in) ?? null;
  return { value, renewAtMs: renewalMs(tools.clock.nowMs(), expiresInSecs, renewBeforeSecs) };
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {}; // An HTML error page: the status is told, the page is not.
  }
}
