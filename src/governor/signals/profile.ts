import { MINUTE_MS, SECOND_MS } from '../../core/units.ts';

/** What is known of one vendor beyond its headers. Each figure is from the vendor's documentation. */
export type Profile = {
  vendor: string;
  hosts: RegExp;
  /** The window its X- headers count by. */
  windowMs?: number;
  /** The least wait after a refusal that names none. */
  leastWaitMs?: number;
  /** 403 is used for limits too: its body tells. */
  limitsBy403?: true;
};

const PROFILES: readonly Profile[] = [
  // Primary limits count by the hour; a secondary limit without Retry-After asks for a minute.
  {
    vendor: 'GitHub',
    hosts: /^(api|uploads)\.github\.com$/,
    windowMs: 60 * MINUTE_MS,
    leastWaitMs: MINUTE_MS,
    limitsBy403: true,
  },
  { vendor: 'GitLab', hosts: /(^|\.)gitlab\.com$/, windowMs: MINUTE_MS },
  { vendor: 'X', hosts: /^api\.(x|twitter)\.com$/, windowMs: 15 * MINUTE_MS },
  { vendor: 'Okta', hosts: /\.okta(preview|-emea)?\.com$/, windowMs: MINUTE_MS },
  { vendor: 'Reddit', hosts: /^(www|oauth)\.reddit\.com$/, windowMs: 10 * MINUTE_MS },
  { vendor: 'Zendesk', hosts: /\.zendesk\.com$/, windowMs: MINUTE_MS },
  { vendor: 'OpenAI', hosts: /^api\.openai\.com$|\.openai\.azure\.com$/, windowMs: MINUTE_MS },
  { vendor: 'Anthropic', hosts: /^api\.anthropic\.com$/, windowMs: MINUTE_MS },
  { vendor: 'Airtable', hosts: /^api\.airtable\.com$/, leastWaitMs: 30 * SECOND_MS },
  { vendor: 'Google', hosts: /\.googleapis\.com$/, limitsBy403: true },
];

/** @param host `URL.host` @returns what is known of its vendor; undefined for all others */
export function profileOf(host: string): Profile | undefined {
  return PROFILES.find((profile) => profile.hosts.test(host));
}
