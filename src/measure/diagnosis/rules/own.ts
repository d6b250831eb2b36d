import { formatMs, formatShare } from '../../../report/format.ts';
import { busyShare, NOTABLE_SHARE, type Rule } from '../rule.ts';

const BUSY_SHARE = 0.8;
// Of the busy time: above it the user's code, not ours, keeps the process busy.
const HANDLER_SHARE = 0.4;

/** Our own process is the bottleneck: one core's worth of work. */
export const ownProcess: Rule = ({ part, split }) => {
  const busy = busyShare(split);
  if (part.share < NOTABLE_SHARE || busy < BUSY_SHARE || handlerBusyShare(split) >= HANDLER_SHARE) return null;
  return {
    bottleneck: 'own process',
    evidence: `Our own process was busy for ${formatShare(busy)} of the time: one core is used up.`,
    advice: 'Use a machine with faster cores, or divide the URLs among several runs (--run NAME) on several cores.',
  };
};

/** What routes and handlers do with a response takes the time. */
export const handler: Rule = ({ host, part, split }) => {
  if (host === null || (part.share < NOTABLE_SHARE && handlerBusyShare(split) < HANDLER_SHARE)) return null;
  const eachMs = (host.parseMs + host.handlerMs) / host.attempts;
  const isBusy = handlerBusyShare(split) >= HANDLER_SHARE;
  const isParse = host.parseMs > host.handlerMs;
  return {
    bottleneck: 'parse / handler',
    evidence: `${isParse ? 'Parsing a body' : 'The handler'} takes ${formatMs(eachMs)} a response of ${host.host}${isBusy ? `, and keeps the process busy for ${formatShare(busyShare(split))} of the time` : ', in which its slot is not on the wire'}.`,
    advice: adviceOn({ isParse, isBusy }),
  };
};

function adviceOn({ isParse, isBusy }: { isParse: boolean; isBusy: boolean }): string {
  if (isParse) return 'Ask for smaller bodies: fewer fields or a smaller page, where the API lets you.';
  if (isBusy) return 'Make the handler cheaper, or move its work behind the export.';
  return 'Let the handler wait for less, or raise maxConcurrency: its waiting costs no processor.';
}

/** The store is slower than the crawl. */
export const storage: Rule = ({ part, facts }) => {
  if (part.share < NOTABLE_SHARE) return null;
  return {
    bottleneck: 'storage',
    evidence: `For ${formatShare(part.share)} of the slot-time nothing was begun, as results waited to be stored.`,
    advice:
      facts.durability === 'full'
        ? 'durability: normal stores faster; only a power cut could then undo the last moments.'
        : 'Put --storage-dir on a faster disk.',
  };
};

/** Share of the busy time that parsing and handlers took, as far as that can be told. */
function handlerBusyShare({ hosts, slots }: Parameters<Rule>[0]['split']): number {
  const handlerMs = hosts.reduce((sum, host) => sum + host.parseMs + host.handlerMs, 0);
  const isBusy = slots.weighedMs > 0 && slots.busyMs / slots.weighedMs >= BUSY_SHARE;
  return isBusy ? Math.min(1, handlerMs / slots.busyMs) : 0;
}
