import type { ResponseActionRule } from '../config/api-schema.ts';
import { SECOND_MS } from '../core/units.ts';
import type { JudgedResponse, ResponseDecision } from '../routes/define-route.ts';
import { ApiError } from './api-error.ts';
import type { Auth } from './auth/auth.ts';
import { templateScope } from './extract-page.ts';
import { firstRequest } from './first-request.ts';
import { isJsonObject } from './json-value.ts';
import { pageFollowUp, readUserData } from './page-state.ts';
import type { ResourceRuntime } from './resource-runtime.ts';
import { compileSelector } from './selector.ts';

export type JudgeContext = { baseUrl: string; auth: Auth };

/** A listing that must be started again more often is not getting anywhere. */
const MOST_RESETS = 3;

/**
 * Decides what a response means: the resource's rules first, then GraphQL errors and a 401 that new credentials may
 * help; else it is as usual. Only renewing a token is an effect.
 */
export async function judgeResponse(
  runtime: ResourceRuntime,
  response: JudgedResponse,
  context: JudgeContext,
): Promise<ResponseDecision> {
  const rule = runtime.findAction(response);
  if (rule?.action === 'refreshTokenThenRetry' || (rule === null && response.status === 401))
    return renewAndRetry(response, context.auth);
  if (rule !== null) return applyRule(rule, { runtime, response, context });
  if (runtime.resource.endpoint.paginator.type === 'graphqlRelay') return judgeGraphql(runtime, response);
  return { kind: 'usual' };
}

async function renewAndRetry(response: JudgedResponse, auth: Auth): Promise<ResponseDecision> {
  const isNew = response.ticket !== null && (await auth.onUnauthorized(response.ticket));
  const error = new ApiError({ code: 'UNAUTHORIZED', message: `answered ${response.status}`, recovery: 'retry' });
  return isNew ? { kind: 'retry', error, afterMs: 0 } : { kind: 'usual' };
}

type RuleFacts = { runtime: ResourceRuntime; response: JudgedResponse; context: JudgeContext };

function applyRule(rule: ResponseActionRule, facts: RuleFacts): ResponseDecision {
  const { response } = facts;
  const afterMs = rule.waitSecs === undefined ? null : rule.waitSecs * SECOND_MS;
  const reason = rule.message ?? `answered ${response.status}: responseActions say ${rule.action}`;
  switch (rule.action) {
    case 'ignore':
      return { kind: 'done', skipReason: null, requests: [] };
    case 'skip':
      return { kind: 'done', skipReason: rule.message ?? 'responseAction', requests: [] };
    case 'fail':
      return { kind: 'fail', error: new ApiError({ code: 'RESPONSE_ACTION', message: reason }) };
    case 'retry':
      return {
        kind: 'retry',
        error: new ApiError({ code: 'RESPONSE_ACTION', message: reason, recovery: 'retry' }),
        afterMs,
      };
    case 'rateLimited':
      return { kind: 'limited', reason, waitMs: afterMs };
    case 'resetPagination':
      return startAgain(facts);
    case 'refreshTokenThenRetry':
      throw new RangeError('refreshTokenThenRetry is decided before');
  }
}

function startAgain({ runtime, response, context }: RuleFacts): ResponseDecision {
  const { frame } = readUserData(response.userData);
  if (frame.start >= MOST_RESETS) {
    const message = `${runtime.resource.name}: pagination was started again ${MOST_RESETS} times`;
    return { kind: 'fail', error: new ApiError({ code: 'RESET_PAGINATION_LOOP', message }) };
  }
  const request = firstRequest(runtime.resource, context.baseUrl, templateScope(runtime, frame));
  const again = { ...frame, start: frame.start + 1 };
  const page = pageFollowUp(runtime.resource.name, runtime.listing.first(request), {
    frame: again,
    doom: null,
    guessedPath: null,
  });
  return { kind: 'done', skipReason: null, requests: [page] };
}

/** GraphQL answers 200 with `errors`; without data that is a failure, and THROTTLED a limit (Shopify and others). */
function judgeGraphql({ resource }: ResourceRuntime, response: JudgedResponse): ResponseDecision {
  const body = response.body();
  if (!isJsonObject(body) || !Array.isArray(body.errors) || body.errors.length === 0) return { kind: 'usual' };
  const errors = body.errors.filter(isJsonObject);
  if (errors.some(isThrottled)) return { kind: 'limited', reason: 'GraphQL: THROTTLED', waitMs: null };
  const { paginator } = resource.endpoint;
  const hasData =
    paginator.type === 'graphqlRelay' && isJsonObject(compileSelector(paginator.connectionPath).first(body));
  if (hasData) return { kind: 'usual' };
  const message = `${resource.name}: GraphQL: ${errors.map((error) => String(error.message)).join('; ')}`;
  return { kind: 'fail', error: new ApiError({ code: 'GRAPHQL_ERROR', message }) };
}

function isThrottled(error: Record<string, unknown>): boolean {
  const { extensions, type } = error;
  return type === 'RATE_LIMITED' || (isJsonObject(extensions) && extensions.code === 'THROTTLED');
}
