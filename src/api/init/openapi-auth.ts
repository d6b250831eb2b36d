import type { ApiDocument } from '../../config/api-schema.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';
import type { OpenApiDocument } from './openapi-document.ts';

type Auth = NonNullable<ApiDocument['auth']>;

/** The auth of the first security requirement that can be met; null when there is none, with the reason. */
export function authOf(document: OpenApiDocument): { auth: Auth | null; note: string | null } {
  const components = isJsonObject(document.root.components) ? document.root.components : {};
  const schemes = isJsonObject(components.securitySchemes) ? components.securitySchemes : {};
  const required = Array.isArray(document.root.security)
    ? document.root.security.flatMap((one) => Object.keys(Object(one)))
    : [];
  const names = required.length > 0 ? required : Object.keys(schemes);
  for (const name of names) {
    const auth = authOfScheme(document.follow(schemes[name]));
    if (auth !== null) return { auth, note: `Auth: ${name} (${auth.type}); set the environment variables it names` };
  }
  return { auth: null, note: names.length === 0 ? null : `Auth: ${names.join(', ')} has to be written by hand` };
}

function authOfScheme(scheme: JsonObject): Auth | null {
  const httpScheme = String(scheme.scheme).toLowerCase();
  if (scheme.type === 'http' && httpScheme === 'bearer') return { type: 'bearer', token: '${env:API_TOKEN}' };
  if (scheme.type === 'http' && httpScheme === 'basic')
    return { type: 'httpBasic', username: '${env:API_USER}', password: '${env:API_PASSWORD}' };
  if (scheme.type === 'apiKey') return apiKeyOf(scheme);
  return scheme.type === 'oauth2' ? oauthOf(scheme) : null;
}

function apiKeyOf({ name, in: location }: JsonObject): Auth | null {
  if (typeof name !== 'string' || (location !== 'header' && location !== 'query' && location !== 'cookie')) return null;
  return { type: 'apiKey', name, value: '${env:API_KEY}', location };
}

function oauthOf({ flows }: JsonObject): Auth | null {
  const { clientCredentials, authorizationCode } = isJsonObject(flows) ? flows : {};
  const client = { clientId: '${env:CLIENT_ID}', clientSecret: '${env:CLIENT_SECRET}' };
  if (isJsonObject(clientCredentials) && typeof clientCredentials.tokenUrl === 'string')
    return { type: 'oauth2ClientCredentials', tokenUrl: clientCredentials.tokenUrl, ...client };
  if (!isJsonObject(authorizationCode) || typeof authorizationCode.tokenUrl !== 'string') return null;
  const tokenUrl =
    typeof authorizationCode.refreshUrl === 'string' ? authorizationCode.refreshUrl : authorizationCode.tokenUrl;
  return { type: 'oauth2RefreshToken', tokenUrl, ...client, refreshToken: '${env:REFRESH_TOKEN}' };
}
