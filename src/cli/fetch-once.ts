import { userAgentOf } from '../app/user-agent.ts';
import { hostConfig } from '../config/host-config.ts';
import type { Input } from '../config/input-schema.ts';
import { EnvironmentError, messageOf } from '../core/errors.ts';
import type { ResponseHeaders } from '../core/headers.ts';
import type { Ports } from '../core/ports.ts';
import { decodeBody } from '../http/bodies.ts';
import type { HttpRequest, HttpResponse } from '../http/client.ts';
import { isRedirect, nextHop } from '../http/redirects.ts';
import { createUndiciClient } from '../http/undici-client.ts';

export type Fetched = { url: string; status: number; headers: ResponseHeaders; text: string };

const MOST_REDIRECTS = 10;

/**
 * Fetches one URL, redirects followed: for a look at an API, without a run.
 * @throws EnvironmentError when there is no answer, or one that is no success
 */
export async function fetchOnce(
  { url, headers }: { url: string; headers: Readonly<Record<string, string>> },
  { input, ports, signal }: { input: Input; ports: Ports; signal: AbortSignal },
): Promise<Fetched> {
  const client = createUndiciClient({ ports, maxConnectionsPerOrigin: 1, blockPrivateAddresses: false });
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const { timeouts, http2 } = hostConfig(input.hosts, new URL(url).host);
  let request: HttpRequest = {
    url,
    method: 'GET',
    headers: { accept: 'application/json, */*;q=0.8', 'user-agent': userAgentOf(input), ...Object.fromEntries(own) },
    body: null,
    timeouts,
    maxBodyBytes: input.maxBodyBytes,
    proxyUrl: null,
    http2,
  };
  try {
    const visited: string[] = [];
    for (;;) {
      const response = await client.send(request, signal);
      if (!isRedirect(response)) return fetched(request.url, response);
      visited.push(request.url);
      request = nextHop(request, response, {
        visited,
        limit: MOST_REDIRECTS,
        secretHeaders: own.map(([name]) => name),
      });
    }
  } catch (error) {
    if (signal.aborted || error instanceof EnvironmentError) throw error;
    const { host } = new URL(url);
    const message = messageOf(error);
    throw new EnvironmentError(message.startsWith(host) ? message : `${host}: ${message}`, { cause: error });
  } finally {
    await client.close();
  }
}

function fetched(url: string, { status, headers, body }: HttpResponse): Fetched {
  if (status < 200 || status > 299) {
    const advice = [401, 403].includes(status) ? ": give credentials by --header 'Authorization: ...'" : '';
    throw new EnvironmentError(`${new URL(url).host} answered ${status}${advice}`);
  }
  return { url, status, headers, text: decodeBody(body, headers) };
}
