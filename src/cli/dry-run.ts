import type { PlannedRequest } from '../app-commands.ts';

const MOST_PAYLOAD_CHARS = 500;

/** @returns what --dry-run says on stdout */
export function dryRunText({ requests, hasMore }: { requests: readonly PlannedRequest[]; hasMore: boolean }): string {
  const lines = requests.flatMap(({ method, url, label, headers, payload }) => [
    `${method} ${url}${label === null ? '' : `  (${label})`}`,
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    ...(payload === null ? [] : [`  ${payload.slice(0, MOST_PAYLOAD_CHARS)}`]),
  ]);
  return `${[...lines, ...(hasMore ? ['... and more'] : []), 'Nothing was sent.'].join('\n')}\n`;
}
