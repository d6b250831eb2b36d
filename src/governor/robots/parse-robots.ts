import { KIB, SECOND_MS } from '../../core/units.ts';
import { type AgentName, agentName } from './product-token.ts';

/** One Allow or Disallow line. */
export type RobotsRule = {
  kind: 'allow' | 'disallow';
  /** The path pattern as written. */
  pattern: string;
  /** The whole line without its comment, for people: "Disallow: /private/". */
  line: string;
};

/** The lines that apply to the same user agents. */
export type RobotsGroup = {
  agents: AgentName[];
  rules: RobotsRule[];
  /** Crawl-delay by agent: unlike the rules, it applies only to the agents named above it. */
  crawlDelaysMs: Map<AgentName, number>;
};

/** A robots.txt, as far as it concerns crawlers; groups in the order of the file, not yet merged. */
export type RobotsFile = { groups: RobotsGroup[] };

// RFC 9309 2.5: at least 500 KiB must be parsed. Counted in characters, which are at least as many octets.
const PARSED_CHARS = 500 * KIB;
// Longer delays are mistakes or meant to keep everybody out, for which there is Disallow.
const LONGEST_CRAWL_DELAY_SECS = 300;
// What people write, and what everyone reads it as.
const AGENT_KEYS = new Set(['user-agent', 'useragent', 'user agent']);
const DISALLOW_KEYS = new Set(['disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw']);
const DELAY_KEYS = new Set(['crawl-delay', 'crawldelay', 'crawl delay']);

/**
 * Reads a robots.txt by RFC 9309; never throws, since whatever is not understood is passed over.
 * Lines end with LF, CR or both; a missing colon is taken as read where the line has just two words. An Allow or
 * Disallow closes a group's list of user agents; other lines and blank ones do not. Rules before any user agent count
 * for nobody.
 */
export function parseRobots(text: string): RobotsFile {
  const groups: RobotsGroup[] = [];
  let isListOpen = false;
  for (const { key, value, line } of linesOf(text)) {
    if (AGENT_KEYS.has(key)) {
      if (!isListOpen) groups.push({ agents: [], rules: [], crawlDelaysMs: new Map() });
      isListOpen = true;
      addAgent(groups.at(-1), value);
    } else if (key === 'allow' || DISALLOW_KEYS.has(key)) {
      isListOpen = false;
      addRule(groups.at(-1), { kind: key === 'allow' ? 'allow' : 'disallow', pattern: value, line });
    } else if (DELAY_KEYS.has(key)) {
      setCrawlDelay(groups.at(-1), value);
    }
  }
  return { groups };
}

/**
 * @returns what of a robots.txt is read: without a byte order mark, whole or broken, and at most 500 KiB of it. A line
 *   that the limit would cut is left out, as half of it would mean something else than its author wrote.
 */
export function readablePart(text: string): string {
  const content = text.replace(/^[\uFEFF\uFFFD]+/, '');
  if (content.length <= PARSED_CHARS) return content;
  const end = Math.max(content.lastIndexOf('\n', PARSED_CHARS), content.lastIndexOf('\r', PARSED_CHARS));
  return content.slice(0, Math.max(0, end));
}

/**
 * Reads a Crawl-delay.
 * @param value seconds, decimals after a point or a comma
 * @returns ms, at most 300,000; undefined for anything else, negative numbers among them
 */
export function parseCrawlDelay(value: string): number | undefined {
  if (!/^(\d+([.,]\d*)?|[.,]\d+)( ?s(ec(onds?)?)?)?$/i.test(value)) return undefined;
  const secs = Number.parseFloat(value.replace(',', '.'));
  return Math.min(secs, LONGEST_CRAWL_DELAY_SECS) * SECOND_MS;
}

type Line = { key: string; value: string; line: string };

function* linesOf(text: string): Generator<Line> {
  for (const raw of readablePart(text).split(/\r\n?|\n/)) {
    const comment = raw.indexOf('#');
    const line = (comment < 0 ? raw : raw.slice(0, comment)).trim();
    const parts = splitLine(line);
    if (parts !== undefined) yield { key: parts.key.toLowerCase(), value: parts.value, line };
  }
}

function splitLine(line: string): { key: string; value: string } | undefined {
  const colon = line.indexOf(':');
  if (colon >= 0) return { key: line.slice(0, colon).trimEnd(), value: line.slice(colon + 1).trimStart() };
  const words = /^(\S+)\s+(\S+)$/.exec(line);
  return words ? { key: words[1] as string, value: words[2] as string } : undefined;
}

function addAgent(group: RobotsGroup | undefined, value: string): void {
  const name = agentName(value);
  if (name !== undefined && !group?.agents.includes(name)) group?.agents.push(name);
}

function addRule(group: RobotsGroup | undefined, rule: RobotsRule): void {
  // A rule with an empty value says nothing: RFC 9309 2.2.2 has a path begin with "/".
  if (rule.pattern !== '') group?.rules.push(rule);
}

function setCrawlDelay(group: RobotsGroup | undefined, value: string): void {
  const delayMs = parseCrawlDelay(value);
  if (delayMs === undefined) return;
  for (const agent of group?.agents ?? []) group?.crawlDelaysMs.set(agent, delayMs);
}
