import { formatCount, formatMs, formatShare } from '../../report/format.ts';
import type { HostFacts } from './facts.ts';
import type { Category, Part } from './split.ts';

const NAMES: Record<Category, string> = {
  server: 'server time',
  'round-trips': 'network round trips',
  handshakes: 'handshakes',
  download: 'download',
  'connection-wait': 'wait for a connection',
  politeness: 'politeness',
  discovery: 'search for the limit',
  knee: "the server's own limit",
  retries: 'retries',
  'own-process': 'own process',
  storage: 'storage',
  handler: 'parse / handler',
  empty: 'empty queue',
};

/** What a part of the slot-time is, where no rule has more to say of it. */
export function describe(part: Part, host: HostFacts | null): { bottleneck: string; evidence: string } {
  return { bottleneck: NAMES[part.category], evidence: evidenceOf(part, host) };
}

function evidenceOf({ category, cause, host: name, share }: Part, host: HostFacts | null): string {
  const at = name === null ? '' : ` ${name}`;
  const each = (totalMs: number): string => (host === null ? '' : `, ${formatMs(totalMs / host.attempts)} a request`);
  const texts: Record<Category, string> = {
    server: `Time in which the server works${host === null ? '' : `, most of it${at}`}.`,
    'round-trips': `The way to the server and back${host?.roundTripMs == null ? '' : `: ${formatMs(host.roundTripMs)} to${at}`}.`,
    handshakes: `Opening connections${host === null ? '' : ` to${at}${each(host.handshakeMs)}`}.`,
    download: `Reading bodies${host === null ? '' : ` from${at}${each(host.downloadMs)}`}.`,
    'connection-wait': 'Requests that waited for a connection.',
    politeness: `Held back for${at || ' a host'} (${cause === 'robots' ? 'its robots.txt is not known yet' : (cause ?? 'a rule').replaceAll('-', ' ')}).`,
    discovery: `Starting slowly${at === '' ? '' : ` at${at}`}, as its limit was not known.`,
    knee: `More than ${host?.kneeConcurrency ?? 'a few'} in flight only made${at || ' a host'} slower, so no more were sent.`,
    retries: `Attempts that failed, and the wait before the next${host === null ? '' : `: ${formatCount(host.retries)} retries at${at}`}.`,
    'own-process': 'Time that no request used: between one and the next, or while our process was busy.',
    storage: 'Nothing was begun, as results waited to be stored.',
    handler: `Parsing and handlers${host === null ? '' : each(host.parseMs + host.handlerMs)}.`,
    empty: `There was nothing to send for ${formatShare(share)} of the slots.`,
  };
  return texts[category];
}
