import type { z } from 'zod';
import { didYouMean } from '../core/nearest-name.ts';
import { keysAt } from './schema-walk.ts';

type Issue = z.core.$ZodIssue;
type IssueOf<Code extends Issue['code']> = Extract<Issue, { code: Code }>;

/** One thing wrong with a value: `path` leads to it (to the key itself, when the key is what is wrong). */
export type Problem = { path: readonly PropertyKey[]; text: string; isAboutKey: boolean };

export type DescribeOptions = {
  schema: z.ZodType;
  /** The value that was parsed: what stands there is shown. */
  value: unknown;
  /** What a number is divided by to be shown in the unit it was typed in; 1 unless the path is an option's. */
  scaleAt?: (path: readonly PropertyKey[]) => number;
};

// Words that zod's own messages begin with; any other message was written for its place and stands as it is.
const GENERIC_MESSAGE = /^(Invalid|Too small|Too big|Unrecognized)/;
// A value below such a name may be a secret: it is not repeated.
const SECRET_NAME = /header|auth|token|password|secret|credential|apikey|cookie|proxy/i;
const LONGEST_SHOWN = 60;

/** @returns every problem zod found, in plain words, with what to do where that is known */
export function describeIssues(issues: readonly Issue[], options: DescribeOptions): Problem[] {
  return issues.flatMap((issue) => describeIssue(issue, options));
}

function describeIssue(issue: Issue, options: DescribeOptions): Problem[] {
  if (issue.code === 'unrecognized_keys') return unknownKeys(issue, options);
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return bestBranch(issue, options);
  if (issue.code === 'invalid_key') return [wrongKey(issue)];
  const text = GENERIC_MESSAGE.test(issue.message) ? textOf(issue, options) : issue.message;
  return [{ path: issue.path, text, isAboutKey: false }];
}

function unknownKeys(issue: IssueOf<'unrecognized_keys'>, { schema }: DescribeOptions): Problem[] {
  const known = keysAt(schema, issue.path);
  return issue.keys.map((key) => {
    const elsewhere = issue.path.length === 0 && keysAt(schema, ['hosts', 'default']).includes(key);
    const advice = elsewhere
      ? ` It is a setting of a host: hosts: {default: {${key}: ...}}.`
      : didYouMean(key, known) || ` Known here: ${known.join(', ')}.`;
    return { path: [...issue.path, key], text: `unknown key.${advice}`, isAboutKey: true };
  });
}

// Of the shapes a value may have, the one meant is the one whose kind (text, object, ...) it already has.
function bestBranch(issue: IssueOf<'invalid_union'>, options: DescribeOptions): Problem[] {
  const branches = issue.errors.filter((errors) => !errors.some(isOfAnotherKind));
  const [first, ...others] = branches;
  if (first !== undefined && others.length === 0) {
    return describeIssues(
      first.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }) as Issue),
      options,
    );
  }
  const kinds = issue.errors.flatMap((errors) =>
    errors.flatMap((inner) => (isOfAnotherKind(inner) ? kindOf(inner) : [])),
  );
  const text = kinds.length > 0 ? `must be ${kinds.join(' or ')}${shown(options, issue.path)}` : issue.message;
  return [{ path: issue.path, text, isAboutKey: false }];
}

function isOfAnotherKind(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code === 'invalid_type';
}

function kindOf(issue: Issue): string {
  return issue.code === 'invalid_type' ? (KINDS[issue.expected] ?? issue.expected) : '';
}

function wrongKey(issue: IssueOf<'invalid_key'>): Problem {
  const inner = issue.issues[0];
  const text = inner !== undefined && !GENERIC_MESSAGE.test(inner.message) ? inner.message : 'is not a usable name.';
  return { path: issue.path, text, isAboutKey: true };
}

function textOf(issue: Issue, options: DescribeOptions): string {
  const scale = options.scaleAt?.(issue.path) ?? 1;
  const got = shown(options, issue.path);
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(issue, options);
    case 'too_small':
      return tooSmall(issue, scale) + got;
    case 'too_big':
      return tooBig(issue, scale) + got;
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}${got}${nearestValue(issue, options)}`;
    case 'invalid_format':
      return `must look like ${issue.pattern ?? issue.format}${got}`;
    default:
      return issue.message;
  }
}

const KINDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with keys',
  record: 'an object with keys',
  null: 'null',
};

function wrongType(issue: IssueOf<'invalid_type'>, options: DescribeOptions): string {
  const value = valueAt(options.value, issue.path);
  const kind = KINDS[issue.expected] ?? issue.expected;
  if (value === undefined) return `is missing: it must be ${kind}.`;
  const quote = issue.expected === 'string' && isScalar(value) ? ' Put it in quotes.' : '';
  return `must be ${kind}${shown(options, issue.path)}${quote}`;
}

function tooSmall({ origin, minimum, inclusive }: IssueOf<'too_small'>, scale: number): string {
  if (origin === 'string')
    return Number(minimum) === 1 ? 'must not be empty' : `must have at least ${minimum} characters`;
  if (origin === 'array') return `must have at least ${minimum} entries`;
  return `must be ${inclusive ? 'at least' : 'more than'} ${Number(minimum) / scale}`;
}

function tooBig({ origin, maximum, inclusive }: IssueOf<'too_big'>, scale: number): string {
  if (origin === 'string') return `must have at most ${maximum} characters`;
  if (origin === 'array') return `must have at most ${maximum} entries`;
  return `must be ${inclusive ? 'at most' : 'less than'} ${Number(maximum) / scale}`;
}

function nearestValue(issue: IssueOf<'invalid_value'>, options: DescribeOptions): string {
  const value = valueAt(options.value, issue.path);
  return typeof value === 'string' ? didYouMean(value, issue.values.map(String)) : '';
}

/** @returns `, not "what stands there".`, or a full stop where it is better not shown */
function shown(options: DescribeOptions, path: readonly PropertyKey[]): string {
  const value = valueAt(options.value, path);
  if (value === undefined || value === '' || path.some((key) => SECRET_NAME.test(String(key)))) return '.';
  const scale = options.scaleAt?.(path) ?? 1;
  const text = JSON.stringify(typeof value === 'number' ? value / scale : value);
  return `, not ${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text}.`;
}

function isScalar(value: unknown): boolean {
  return ['number', 'boolean', 'bigint'].includes(typeof value);
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<PropertyKey, unknown>)[key];
  }
  return current;
}
