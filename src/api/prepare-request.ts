import { messageOf } from '../core/errors.ts';
import type { OutgoingRequest, PreparedRequest } from '../routes/define-route.ts';
import { ApiError } from './api-error.ts';
import type { Auth } from './auth/auth.ts';
import { readUserData } from './page-state.ts';
import { MissingSecretError, referencesIn, type SecretVault } from './references.ts';

export type PrepareContext = {
  /** Credentials go to it and to no other. */
  origin: string;
  /** Of the whole api; names in lower case. */
  headers: Readonly<Record<string, string>>;
  auth: Auth;
  vault: SecretVault;
};

/**
 * Puts the secrets into a request: references, the api's headers, credentials. A request to another origin gets none of
 * them: headers that hold a reference are left out there.
 * @throws ApiError what the request was doomed to; AUTH_FAILED, AUTH_UNREACHABLE
 */
export async function prepareRequest(
  request: OutgoingRequest,
  { userData, signal }: { userData: Record<string, unknown>; signal: AbortSignal | undefined },
  context: PrepareContext,
): Promise<PreparedRequest> {
  const { doom } = readUserData(userData);
  if (doom !== null) throw new ApiError(doom);
  if (new URL(request.url).origin !== context.origin)
    return { request: withoutSecrets(request), ticket: null, secretHeaders: [] };
  const revealed = reveal(request, context);
  const { request: authenticated, ticket } = await context.auth.apply(revealed, signal);
  const secretHeaders = Object.keys(authenticated.headers).filter(
    (name) => authenticated.headers[name] !== request.headers[name],
  );
  return { request: authenticated, ticket, secretHeaders, hasSecretBody: authenticated.payload !== request.payload };
}

function reveal(request: OutgoingRequest, { headers, vault }: PrepareContext): OutgoingRequest {
  try {
    const all = Object.entries({ ...headers, ...request.headers });
    return {
      ...request,
      url: vault.revealUrl(request.url),
      headers: Object.fromEntries(all.map(([name, value]) => [name, vault.reveal(value)])),
      payload: request.payload === null ? null : vault.revealJson(request.payload),
    };
  } catch (error) {
    if (!(error instanceof MissingSecretError)) throw error;
    throw new ApiError({ code: 'AUTH_FAILED', message: messageOf(error), recovery: 'stop' }, { cause: error });
  }
}

function withoutSecrets(request: OutgoingRequest): OutgoingRequest {
  const headers = Object.entries(request.headers).filter(([, value]) => referencesIn(value).length === 0);
  return { ...request, headers: Object.fromEntries(headers) };
}
