import type { PaginatorConfig } from '../../config/api-schema.ts';
import { isJsonObject, type JsonObject, scalarText } from '../json-value.ts';
import { compileSelector } from '../selector.ts';
import { withPageValue } from './edit-request.ts';
import { done, follow, type Paginator } from './paginator.ts';

export type GraphqlRelayConfig = Pick<
  Extract<PaginatorConfig, { type: 'graphqlRelay' }>,
  'connectionPath' | 'cursorVariable' | 'pageSizeVariable' | 'pageSize'
>;

/**
 * GraphQL cursor connections over POST.
 * @throws SelectorSyntaxError
 * @see https://relay.dev/graphql/connections.htm
 */
export function graphqlRelayPaginator(config: GraphqlRelayConfig): Paginator {
  const connection = compileSelector(config.connectionPath);
  const cursorTarget = { bodyPath: `variables.${config.cursorVariable}` };
  return {
    first(request) {
      const { pageSize, pageSizeVariable } = config;
      if (pageSize === undefined || pageSizeVariable === undefined) return { request, state: {} };
      return { request: withPageValue(request, { bodyPath: `variables.${pageSizeVariable}` }, pageSize), state: {} };
    },
    next(_state, response, request) {
      const pageInfo = pageInfoOf(connection.first(response.body));
      if (pageInfo === null)
        return done('no pageInfo', {
          warning: `${connection.text} has no pageInfo: ask for pageInfo { hasNextPage endCursor }`,
        });
      const cursor = scalarText(pageInfo.endCursor);
      if (pageInfo.hasNextPage !== true || cursor === undefined || cursor === '') return done('hasNextPage is false');
      return follow({ request: withPageValue(request, cursorTarget, cursor), state: {} }, cursor);
    },
    total(response) {
      const found = connection.first(response.body);
      const records = isJsonObject(found) ? found.totalCount : undefined;
      return typeof records === 'number' ? { records } : null;
    },
  };
}

function pageInfoOf(connection: unknown): JsonObject | null {
  return isJsonObject(connection) && isJsonObject(connection.pageInfo) ? connection.pageInfo : null;
}

/** @returns JSONPath of a connection's records: its nodes, else the node of each edge */
export function relayRecordPath(connectionPath: string, body: unknown): string {
  const connection = compileSelector(connectionPath).first(body);
  const hasNodes =
    !isJsonObject(connection) || Object.hasOwn(connection, 'nodes') || !Object.hasOwn(connection, 'edges');
  return hasNodes ? `${connectionPath}.nodes[*]` : `${connectionPath}.edges[*].node`;
}
