import type { ResponseActionRule } from '../config/api-schema.ts';
import type { JudgedResponse } from '../routes/define-route.ts';
import { isTruthyJson } from './json-value.ts';
import { compileSelector } from './selector.ts';

/** The rule that applies; null = none, the usual meaning of the status holds. */
export type ActionFinder = (response: RuledResponse) => ResponseActionRule | null;

/** What rules look at. */
export type RuledResponse = Pick<JudgedResponse, 'status' | 'text' | 'body'>;

/**
 * Compiles responseActions: the first rule all of whose conditions hold decides. Pure.
 * @throws SelectorSyntaxError
 */
export function compileResponseActions(rules: readonly ResponseActionRule[]): ActionFinder {
  const compiled = rules.map((rule) => ({ rule, applies: compileRule(rule) }));
  return (response) => compiled.find(({ applies }) => applies(response))?.rule ?? null;
}

function compileRule(rule: ResponseActionRule): (response: RuledResponse) => boolean {
  const { content } = rule;
  const statuses = rule.statusCode === undefined ? null : [rule.statusCode].flat();
  const condition = rule.condition === undefined ? null : compileSelector(rule.condition);
  return (response) => {
    if (statuses !== null && !statuses.includes(response.status)) return false;
    if (content !== undefined && !response.text().includes(content)) return false;
    return condition === null || condition.all(response.body()).some(isTruthyJson);
  };
}
