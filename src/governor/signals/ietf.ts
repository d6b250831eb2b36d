import { type BareItem, type Parameters, parseDictionary, parseList } from 'structured-headers';
import { SECOND_MS } from '../../core/units.ts';
import { type StatedLimit, statedLimit } from './stated-limit.ts';

type Item = { value: BareItem; parameters: Parameters };

/**
 * Reads RateLimit and RateLimit-Policy of the IETF draft, versions 7 to 11.
 * @returns the limits stated; none when malformed, as the draft asks
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
export function readIetf(rateLimit: string | undefined, policy: string | undefined): StatedLimit[] {
  const policies = parsePolicies(policy);
  const simple = rateLimit === undefined ? null : SIMPLE_STATE.exec(rateLimit);
  if (simple !== null && policies.length <= 1) return readSimple(simple, policies[0]);
  const states = rateLimit === undefined ? [] : (listOf(rateLimit) ?? null);
  if (states === null) return readDraft7(rateLimit ?? '', policies);
  const named = new Map(policies.map((one) => [one.name, one]));
  for (const state of states) mergeState(named, state);
  return [...named.values()].filter((one) => one.limit !== null || one.remaining !== null);
}

// What nearly all servers send, and with each answer: read without a parser.
const SIMPLE_STATE = /^"([^"\\]*)"; ?r=(\d{1,15}); ?t=(\d{1,10})$/;

function readSimple(
  [, name = '', remaining, resetSecs]: RegExpExecArray,
  policy: StatedLimit | undefined,
): StatedLimit[] {
  const state = { remaining: Number(remaining), resetMs: Number(resetSecs) * SECOND_MS };
  if (policy?.name === name) return [{ ...policy, ...state }];
  const own: StatedLimit = { name, unit: 'requests', limit: null, windowMs: null, ...state };
  return policy === undefined ? [own] : [policy, own];
}

/** `"default";r=50;t=30`; later wordings say a (available) for r, and w (effective window) for t. */
function mergeState(named: Map<string, StatedLimit>, { value, parameters }: Item): void {
  const name = String(value);
  const remaining = numberOf(parameters, 'r') ?? numberOf(parameters, 'a') ?? null;
  const resetSecs = numberOf(parameters, 't') ?? numberOf(parameters, 'w');
  const resetMs = resetSecs === undefined ? null : resetSecs * SECOND_MS;
  const policy = named.get(name);
  named.set(name, {
    name,
    unit: policy?.unit ?? 'requests',
    limit: policy?.limit ?? null,
    windowMs: policy?.windowMs ?? null,
    remaining,
    resetMs,
  });
}

/** `limit=100, remaining=50, reset=5`; the policy beside it may name the window. */
function readDraft7(rateLimit: string, policies: StatedLimit[]): StatedLimit[] {
  const values = dictionaryOf(rateLimit);
  const limit = values?.get('limit');
  if (values === undefined || limit === undefined) return [];
  const resetSecs = values.get('reset');
  const read = statedLimit({
    name: 'default',
    limit: limit || undefined,
    remaining: values.get('remaining'),
    windowMs: windowFor(limit, policies),
    resetMs: resetSecs === undefined ? undefined : resetSecs * SECOND_MS,
  });
  return read ? [read] : [];
}

/** @returns the window of the policy with that quota (of the first, where none has it) */
export function windowFor(limit: number | undefined, policies: readonly StatedLimit[]): number | undefined {
  const same = policies.find((policy) => policy.limit === limit) ?? policies[0];
  return same?.windowMs ?? undefined;
}

/**
 * Reads a policy list: `"burst";q=100;w=60, "daily";q=1000;w=86400`, or `100;w=10` of the older drafts. What counts
 * bytes, or something else unknown, is left out.
 */
export function parsePolicies(text: string | undefined): StatedLimit[] {
  if (text === undefined) return [];
  let policies = parsed.get(text);
  if (policies === undefined) {
    policies = readPolicies(text);
    if (parsed.size >= MOST_PARSED) parsed.clear();
    parsed.set(text, policies);
  }
  return policies;
}

// A policy is the same in each answer of a server.
const MOST_PARSED = 500;
const parsed = new Map<string, StatedLimit[]>();

function readPolicies(text: string): StatedLimit[] {
  return (listOf(text) ?? []).flatMap(({ value, parameters }) => {
    const isOld = typeof value === 'number';
    const limit = isOld ? value : numberOf(parameters, 'q');
    const unit = unitOf(parameters.get('qu'));
    if (unit === null || limit === undefined || limit <= 0) return [];
    const windowSecs = numberOf(parameters, 'w') ?? numberOf(parameters, 'window');
    const windowMs = windowSecs === undefined || windowSecs === 0 ? undefined : windowSecs * SECOND_MS;
    const name = isOld ? `${value}` : String(value);
    return [statedLimit({ name, unit, limit, windowMs }) ?? []].flat();
  });
}

function unitOf(quotaUnit: BareItem | undefined): StatedLimit['unit'] | null {
  if (quotaUnit === undefined || quotaUnit === 'requests') return 'requests';
  return quotaUnit === 'concurrent-requests' ? 'concurrent' : null;
}

function numberOf(parameters: Parameters, name: string): number | undefined {
  const value = parameters.get(name);
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** @returns the items of a list; undefined when it is not one */
function listOf(text: string): Item[] | undefined {
  try {
    return parseList(text).map(([value, parameters]) => ({ value: value as BareItem, parameters }));
  } catch {
    return undefined; // the draft: a malformed field is ignored
  }
}

function dictionaryOf(text: string): Map<string, number> | undefined {
  try {
    const numbers = [...parseDictionary(text)].filter(([, [value]]) => typeof value === 'number' && value >= 0);
    return new Map(numbers.map(([name, [value]]) => [name, value as number]));
  } catch {
    return undefined; // as above
  }
}
