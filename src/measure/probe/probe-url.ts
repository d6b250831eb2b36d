import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import { fetchRobots } from '../../governor/robots/fetch-robots.ts';
import { rulesFor } from '../../governor/robots/robots-rules.ts';
import { splitUrl } from '../../governor/robots/split-url.ts';
import { HttpError } from '../../http/http-error.ts';
import { type MeasureTarget, type OpenClient, requestTo } from '../common/send.ts';
import { type ExchangeSample, sample } from './exchange-sample.ts';
import { measureKeepAlive } from './keep-alive.ts';
import type { FamilyResult, KeepAlive, UrlProbe } from './probe-report.ts';
import { type ProbeSightings, summariseProbe } from './summarise-probe.ts';

export type ProbeOptions = {
  clock: Clock;
  openClient: OpenClient;
  /** Authorities to trust beside the system's. */
  trust: Pick<ConnectionOptions, 'ca'>;
  /** Requests over new connections, and over one that is kept. */
  freshCount: number;
  reusedCount: number;
  /** How long the server's keep-alive is waited for, ms. */
  keepAliveBoundMs: number;
  productToken: string;
  wishedRps: number;
  maxConcurrency: number;
  signal: AbortSignal;
};

/**
 * Finds out about one URL with about a dozen requests, one after the other; a refusal ends it.
 * @returns also what a failure left measured; rejects only with the signal's reason
 */
export async function probeUrl(target: MeasureTarget, options: ProbeOptions): Promise<UrlProbe> {
  const sightings: ProbeSightings = {
    fresh: [],
    reused: [],
    error: null,
    robots: null,
    families: [],
    keepAlive: { kind: 'unknown', reason: 'not measured' },
  };
  try {
    await takeSamples(target, options, sightings);
  } catch (error) {
    options.signal.throwIfAborted();
    sightings.error = {
      code: error instanceof HttpError ? error.code : 'UNKNOWN',
      message: messageOf(error),
    };
  }
  return summariseProbe(target, sightings, options);
}

async function takeSamples(target: MeasureTarget, options: ProbeOptions, sightings: ProbeSightings): Promise<void> {
  for (let index = 0; index < options.freshCount; index++) {
    sightings.fresh.push(await sampleFresh(target, options));
    if (isRefused(sightings)) return;
  }
  await sampleReused(target, options, sightings);
  if (isRefused(sightings)) return;
  const httpVersion = sightings.fresh[0]?.response.httpVersion ?? '1.1';
  const { clock, trust, signal } = options;
  // Nothing is sent while its end is waited for, so that the rest can be looked up meanwhile.
  const keepAlive = measureKeepAlive({ target, httpVersion, boundMs: options.keepAliveBoundMs, clock, trust, signal });
  try {
    sightings.robots = await readRobots(target, options);
    sightings.families = await tryFamilies(target, options);
  } finally {
    sightings.keepAlive = await keepAlive.catch((error: unknown): KeepAlive => {
      return { kind: 'unknown', reason: messageOf(error) };
    });
  }
}

/** A client of its own has no connection, no DNS answer and no TLS session to use again. */
async function sampleFresh(
  target: MeasureTarget,
  { openClient, clock, signal }: ProbeOptions,
): Promise<ExchangeSample> {
  const client = openClient();
  try {
    return await sample(client, target, { clock, signal });
  } finally {
    await client.close();
  }
}

/** One connection after the other; the first request, which opens it, is not counted. */
async function sampleReused(target: MeasureTarget, options: ProbeOptions, { reused }: ProbeSightings): Promise<void> {
  const { openClient, clock, signal, reusedCount } = options;
  const client = openClient({ maxConnectionsPerOrigin: 1 });
  try {
    await sample(client, target, { clock, signal });
    for (let index = 0; index < reusedCount; index++) {
      const taken = await sample(client, target, { clock, signal });
      reused.push(taken);
      if (REFUSALS.has(taken.response.status)) return;
    }
  } finally {
    await client.close();
  }
}

const REFUSALS: ReadonlySet<number> = new Set([429, 503]);

function isRefused({ fresh, reused }: ProbeSightings): boolean {
  return [...fresh, ...reused].some(({ response }) => REFUSALS.has(response.status));
}

async function readRobots(target: MeasureTarget, options: ProbeOptions): Promise<UrlProbe['robots']> {
  const { origin, path } = splitUrl(target.url);
  const client = options.openClient();
  const headers = { ...target.headers };
  // What is meant for the API is not for the robots.txt, which may be redirected elsewhere.
  for (const name of ['authorization', 'cookie']) delete headers[name];
  const { clock, signal } = options;
  try {
    const fetched = await fetchRobots(origin, {
      wallMs: () => clock.wallMs(),
      signal,
      fetchText: async (url) => {
        const { status, headers: told, body } = await client.send(requestTo({ ...target, headers, url }), signal);
        return { status, headers: told, text: body.toString('utf8') };
      },
    });
    if (fetched.kind === 'unreachable') return { verdict: 'unreachable', rule: fetched.reason, crawlDelayMs: 0 };
    if (fetched.kind === 'absent') return { verdict: 'allowed', rule: null, crawlDelayMs: 0 };
    const rules = rulesFor(fetched.text, options.productToken);
    const rule = rules.forbiddingLine(path);
    return { verdict: rule === null ? 'allowed' : 'disallowed', rule, crawlDelayMs: rules.crawlDelayMs };
  } finally {
    await client.close();
  }
}

/** One request over each of IPv4 and IPv6 that the name has. */
async function tryFamilies(target: MeasureTarget, options: ProbeOptions): Promise<FamilyResult[]> {
  const { hostname } = new URL(target.url);
  const literal = hostname.replace(/^\[|\]$/g, '');
  const addresses =
    isIP(literal) > 0
      ? [{ address: literal, family: isIP(literal) }]
      : await lookup(hostname, { all: true, order: 'verbatim' });
  const results: FamilyResult[] = [];
  for (const family of [4, 6] as const) {
    const address = addresses.find((entry) => entry.family === family)?.address;
    if (address !== undefined) results.push(await tryAddress(target, { family, address }, options));
  }
  return results;
}

async function tryAddress(
  target: MeasureTarget,
  { family, address }: { family: 4 | 6; address: string },
  { openClient, clock, signal }: ProbeOptions,
): Promise<FamilyResult> {
  const client = openClient({ resolve: async () => [{ address, family }] });
  try {
    const { phases } = await sample(client, target, { clock, signal });
    return { family, address, connectMs: phases.connect, error: null };
  } catch (error) {
    signal.throwIfAborted();
    return { family, address, connectMs: null, error: messageOf(error) };
  } finally {
    await client.close();
  }
}
