import { systemClock } from '../../../src/core/clock.ts';
import { silentLog } from '../../../src/core/log.ts';
import { createUndiciClient } from '../../../src/http/undici-client.ts';
import type { MeasureTarget, OpenClient } from '../../../src/measure/common/send.ts';
import type { ProbeOptions } from '../../../src/measure/probe/probe-url.ts';

export function targetOf(url: string, changes: Partial<MeasureTarget> = {}): MeasureTarget {
  return {
    url,
    headers: { accept: 'application/json' },
    http2: 'auto',
    timeouts: { connectMs: 10_000, firstByteMs: 10_000, idleMs: 10_000, totalMs: 20_000 },
    ...changes,
  };
}

/** Opens clients on the real clock. */
export function clientsThatTrust(ca?: string): OpenClient {
  const ports = { clock: systemClock, random: () => 0.5, log: silentLog };
  return ({ resolve, maxConnectionsPerOrigin = 1_000 } = {}) =>
    createUndiciClient({
      ports,
      maxConnectionsPerOrigin,
      blockPrivateAddresses: false,
      resolve,
      ...(ca === undefined ? {} : { trust: { ca } }),
    });
}

export function probeOptions(changes: Partial<ProbeOptions> & { trust?: { ca?: string } } = {}): ProbeOptions {
  return {
    clock: systemClock,
    openClient: clientsThatTrust(changes.trust?.ca),
    trust: {},
    freshCount: 3,
    reusedCount: 5,
    keepAliveBoundMs: 200,
    productToken: 'millrace',
    wishedRps: 100,
    maxConcurrency: 50,
    signal: new AbortController().signal,
    ...changes,
  };
}
