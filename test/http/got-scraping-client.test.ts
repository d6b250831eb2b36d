import { systemClock } from '../../src/core/clock.ts';
import { silentLog } from '../../src/core/log.ts';
import type { HttpClient } from '../../src/http/client.ts';
import { createGotScrapingClient } from '../../src/http/got-scraping-client.ts';
import { type ClientSetUp, clientConformance } from './client-conformance.ts';
import { resolveOnly } from './support/names.ts';

function create(setUp: ClientSetUp): HttpClient {
  return createGotScrapingClient({
    ports: { clock: systemClock, random: () => 0.5, log: silentLog },
    maxConnectionsPerOrigin: setUp.maxConnectionsPerOrigin ?? 50,
    blockPrivateAddresses: setUp.blockPrivateAddresses ?? false,
    trust: setUp.ca === '' ? {} : { ca: setUp.ca },
    resolve: resolveOnly(setUp.names ?? {}),
  });
}

clientConformance({ name: 'got-scraping', create });
