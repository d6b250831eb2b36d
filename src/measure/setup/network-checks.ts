import { getServers } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { access } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import { SECOND_MS } from '../../core/units.ts';
import { ok, problem, type SetupCheck, warning } from './check.ts';

type Env = Readonly<Record<string, string | undefined>>;

// Reserved for documentation (RFC 2606), and served by everybody's resolver.
const KNOWN_NAME = 'example.com';
const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
const DATABASE_TIMEOUT_MS = 5 * SECOND_MS;

export async function checkDns(
  clock: Clock,
  resolve: (name: string) => Promise<unknown> = lookup,
): Promise<SetupCheck> {
  const servers = getServers().join(', ') || 'none configured';
  const startedMs = clock.nowMs();
  try {
    await resolve(KNOWN_NAME);
    return ok(
      'DNS',
      `${KNOWN_NAME} was resolved in ${Math.round(clock.nowMs() - startedMs)} ms (name servers: ${servers})`,
    );
  } catch (error) {
    return warning('DNS', `${KNOWN_NAME} was not resolved: ${messageOf(error)} (name servers: ${servers}).`);
  }
}

/** millrace takes proxies from its input document only, as each session keeps its own. */
export function checkProxy(env: Env): SetupCheck {
  const set = PROXY_VARIABLES.filter((name) => env[name] !== undefined && env[name] !== '');
  if (set.length === 0) return ok('Proxy', 'no proxy variables are set');
  return warning(
    'Proxy',
    `${set.join(', ')} is set, and not used: name proxies by hosts."...".sessionPool.proxyUrls, for example ["\${env:${set[0]}}"].`,
  );
}

export async function checkAuthorities(env: Env): Promise<SetupCheck> {
  const file = env.NODE_EXTRA_CA_CERTS;
  if (file === undefined || file === '') return ok('Certificates', "Node's own authorities are trusted");
  return access(file).then(
    () => ok('Certificates', `also those of NODE_EXTRA_CA_CERTS (${file}) are trusted`),
    (error: unknown) => problem('Certificates', `NODE_EXTRA_CA_CERTS cannot be read: ${messageOf(error)}.`),
  );
}

/**
 * Asks whether a PostgreSQL server answers, by the first message of its protocol. Name and password are not tried.
 * @see https://www.postgresql.org/docs/current/protocol-message-formats.html SSLRequest
 */
export async function checkDatabase(databaseUrl: string, clock: Clock): Promise<SetupCheck> {
  const url = URL.parse(databaseUrl);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    return problem('Database', 'Its URL must begin with postgresql://');
  const host = url.hostname.replace(/^\[|\]$/g, '') || 'localhost';
  const port = Number(url.port || 5432);
  try {
    const answer = await askForTls({ host, port }, clock);
    if (answer === 'S' || answer === 'N')
      return ok('Database', `A PostgreSQL server answers at ${host}:${port}${answer === 'S' ? ', with TLS' : ''}`);
    return problem('Database', `What answers at ${host}:${port} is not PostgreSQL.`);
  } catch (error) {
    return problem('Database', `No server answers at ${host}:${port}: ${messageOf(error)}.`);
  }
}

// Length 8, then the code 80877103.
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

function askForTls(address: { host: string; port: number }, clock: Clock): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(address, () => socket.write(SSL_REQUEST));
  socket.once('data', (data: Buffer) => resolve(data.toString('latin1', 0, 1)));
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('it closed the connection')));
  const cancel = clock.schedule(DATABASE_TIMEOUT_MS, () => reject(new Error('no answer within 5 s')));
  return promise.finally(() => {
    cancel();
    socket.destroy();
  });
}
