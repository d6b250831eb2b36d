import { canonicalPath } from './canonical-path.ts';
import { parseRobots, type RobotsGroup, type RobotsRule } from './parse-robots.ts';
import { compilePattern, matchesPath, type PathPattern } from './path-pattern.ts';
import { type AgentName, agentName, EVERYBODY } from './product-token.ts';

type CompiledRule = { kind: RobotsRule['kind']; pattern: PathPattern; line: string };

/** What one robots.txt says to one user agent, compiled. */
export class RobotsRules {
  /** How many Allow and Disallow lines apply. */
  readonly count: number;
  /** Least time between two requests that is asked for, ms; 0 = none. */
  readonly crawlDelayMs: number;
  /** Rules that are a plain prefix, by that prefix; `#prefixLengths` says which to look up, the longest first. */
  readonly #byPrefix = new Map<string, CompiledRule>();
  readonly #prefixLengths: readonly number[];
  /** The others, the longest first. */
  readonly #patterns: readonly CompiledRule[];

  constructor({ rules, crawlDelayMs }: { rules: readonly RobotsRule[]; crawlDelayMs: number }) {
    this.count = rules.length;
    this.crawlDelayMs = crawlDelayMs;
    const compiled = rules.map(({ kind, pattern, line }) => ({ kind, pattern: compilePattern(pattern), line }));
    for (const rule of compiled) if (isPrefix(rule)) this.#addPrefix(rule);
    this.#prefixLengths = [...new Set([...this.#byPrefix.keys()].map(({ length }) => length))].sort((a, b) => b - a);
    this.#patterns = compiled.filter((rule) => !isPrefix(rule)).sort(byPrecedence);
  }

  /**
   * Looks a URL up. The longest matching rule decides, an Allow before a Disallow of the same length.
   * @param path path and query as in the URL: "/a/b?c=d"
   * @returns the line that forbids it; null when it is allowed
   */
  forbiddingLine(path: string): string | null {
    // RFC 9309 2.2.2: /robots.txt itself is implicitly allowed.
    if (this.count === 0 || path === '/robots.txt') return null;
    const rule = this.#decisiveRule(canonicalPath(path));
    return rule?.kind === 'disallow' ? rule.line : null;
  }

  #decisiveRule(path: string): CompiledRule | undefined {
    const best = this.#longestPrefix(path);
    for (const rule of this.#patterns) {
      if (best !== undefined && byPrecedence(best, rule) <= 0) return best;
      if (matchesPath(rule.pattern, path)) return rule;
    }
    return best;
  }

  #longestPrefix(path: string): CompiledRule | undefined {
    for (const length of this.#prefixLengths) {
      if (length > path.length) continue;
      const rule = this.#byPrefix.get(path.slice(0, length));
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  #addPrefix(rule: CompiledRule): void {
    const prefix = rule.pattern.pieces[0] as string;
    const present = this.#byPrefix.get(prefix);
    if (present === undefined || byPrecedence(rule, present) < 0) this.#byPrefix.set(prefix, rule);
  }
}

/** The rules of an origin that has no robots.txt, or none for us. */
export const NO_RULES = new RobotsRules({ rules: [], crawlDelayMs: 0 });

/**
 * Reads what a robots.txt says to a user agent: the rules of all groups that name it, merged; of those for "*" when
 * none does.
 * @param productToken of ours: what comes after its letters, "_" and "-" does not count, nor does case
 */
export function rulesFor(text: string, productToken: string): RobotsRules {
  const { groups } = parseRobots(text);
  const own = agentName(productToken);
  const agent = own !== undefined && groups.some(({ agents }) => agents.includes(own)) ? own : EVERYBODY;
  return mergeGroups(groups, agent);
}

function mergeGroups(groups: readonly RobotsGroup[], agent: AgentName): RobotsRules {
  const matching = groups.filter(({ agents }) => agents.includes(agent));
  const rules = matching.flatMap((group) => group.rules);
  const delays = matching.map(({ crawlDelaysMs }) => crawlDelaysMs.get(agent) ?? 0);
  const crawlDelayMs = Math.max(0, ...delays);
  return rules.length === 0 && crawlDelayMs === 0 ? NO_RULES : new RobotsRules({ rules, crawlDelayMs });
}

function isPrefix({ pattern }: CompiledRule): boolean {
  return pattern.pieces.length === 1 && !pattern.isAnchored;
}

/** @returns < 0 when `a` decides over `b`: it is longer, or as long and an Allow */
function byPrecedence(a: CompiledRule, b: CompiledRule): number {
  return b.pattern.length - a.pattern.length || rank(a) - rank(b);
}

function rank({ kind }: CompiledRule): number {
  return kind === 'allow' ? 0 : 1;
}
