import type { ApiDocument } from '../../config/api-schema.ts';
import { isJsonObject, type JsonObject } from '../json-value.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import type { ListOperation, Parameter } from './openapi-operation.ts';

type Paginator = NonNullable<ApiDocument['paginator']>;

/** A paginator, and what it was told by. */
export type Hint = { paginator: Paginator; evidence: string };

/** How the pages of an operation follow: by a vendor's hint, else by its parameters and its response. */
export function paginationOf(document: OpenApiDocument, list: ListOperation): Hint {
  return (
    speakeasyHint(list) ??
    fernHint(list) ??
    pageableHint(list) ??
    guessed(document, list) ?? {
      paginator: { type: 'auto' },
      evidence: 'nothing in the document: found out when it runs',
    }
  );
}

type Input = { name?: unknown; in?: unknown; type?: unknown };

/** @see https://www.speakeasy.com/docs/sdks/customize/runtime/pagination */
function speakeasyHint(list: ListOperation): Hint | null {
  const hint = list.operation['x-speakeasy-pagination'];
  if (!isJsonObject(hint)) return null;
  const inputs = (Array.isArray(hint.inputs) ? hint.inputs : []) as Input[];
  const outputs = isJsonObject(hint.outputs) ? hint.outputs : {};
  const nameOf = (type: string): string | undefined => text(inputs.find((input) => input.type === type)?.name);
  const evidence = 'x-speakeasy-pagination';
  if (hint.type === 'url' && text(outputs.nextUrl))
    return { paginator: { type: 'jsonLink', nextUrlPath: text(outputs.nextUrl)! }, evidence };
  if (hint.type === 'cursor' && text(outputs.nextCursor))
    return {
      paginator: cursorOf(
        text(outputs.nextCursor)!,
        inputs.find((input) => input.type === 'cursor'),
      ),
      evidence,
    };
  if (hint.type !== 'offsetLimit') return null;
  const totalPagesPath = text(outputs.numPages);
  const page = nameOf('page');
  if (page !== undefined)
    return {
      paginator: { type: 'pageNumber', pageParam: page, ...(totalPagesPath ? { totalPagesPath } : {}) },
      evidence,
    };
  return {
    paginator: {
      type: 'offset',
      limit: pageSizeOf(list) ?? 100,
      offsetParam: nameOf('offset') ?? 'offset',
      limitParam: nameOf('limit') ?? 'limit',
    },
    evidence,
  };
}

function cursorOf(cursorPath: string, input: Input | undefined): Paginator {
  const name = text(input?.name) ?? 'cursor';
  return input?.in === 'requestBody'
    ? { type: 'cursor', cursorPath, cursorBodyPath: name }
    : { type: 'cursor', cursorPath, cursorParam: name };
}

/** @see https://buildwithfern.com/learn/api-definitions/openapi/extensions/pagination */
function fernHint(list: ListOperation): Hint | null {
  const hint = list.operation['x-fern-pagination'];
  if (!isJsonObject(hint)) return null;
  const evidence = 'x-fern-pagination';
  const param = (value: unknown): string | undefined => text(value)?.replace(/^\$request\./, '');
  const path = (value: unknown): string | undefined => text(value)?.replace(/^\$response/, '$');
  const [cursor, nextCursor] = [param(hint.cursor), path(hint.next_cursor)];
  if (cursor !== undefined && nextCursor !== undefined)
    return { paginator: { type: 'cursor', cursorPath: nextCursor, cursorParam: cursor }, evidence };
  const nextUri = path(hint.next_uri);
  if (nextUri !== undefined) return { paginator: { type: 'jsonLink', nextUrlPath: nextUri }, evidence };
  const offset = param(hint.offset);
  if (offset === undefined) return null;
  return isPageParam(offset)
    ? { paginator: { type: 'pageNumber', pageParam: offset }, evidence }
    : { paginator: { type: 'offset', limit: pageSizeOf(list) ?? 100, offsetParam: offset }, evidence };
}

/** @see https://azure.github.io/autorest/extensions/#x-ms-pageable */
function pageableHint({ operation }: ListOperation): Hint | null {
  const hint = operation['x-ms-pageable'];
  if (!isJsonObject(hint)) return null;
  const evidence = 'x-ms-pageable';
  // nextLinkName null: pageable by type, one page in fact.
  if (hint.nextLinkName === null) return { paginator: { type: 'singlePage' }, evidence };
  const name = text(hint.nextLinkName) ?? 'nextLink';
  return { paginator: { type: 'jsonLink', nextUrlPath: name.includes('.') ? `$['${name}']` : `$.${name}` }, evidence };
}

function guessed(document: OpenApiDocument, list: ListOperation): Hint | null {
  if (list.responseHeaders.includes('link'))
    return { paginator: { type: 'headerLink' }, evidence: 'the response has a Link header' };
  const query = list.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const fields = fieldPaths(document, list.bodySchema);
  const find = (pattern: RegExp): string | undefined => fields.find((path) => pattern.test(path));
  const nextCursor = find(/(^|\.)(next_?cursor|next_?page_?token|next_?token|end_?cursor|continuation_?token|next)$/i);
  const cursor = query.find((name) =>
    /^(cursor|page_?token|next_?token|after|starting_?after|continuation_?token)$/i.test(name),
  );
  if (cursor !== undefined && nextCursor !== undefined)
    return {
      paginator: { type: 'cursor', cursorPath: `$.${nextCursor}`, cursorParam: cursor },
      evidence: `?${cursor}= and ${nextCursor}`,
    };
  return countedHint(list, { query, find });
}

function countedHint(
  list: ListOperation,
  { query, find }: { query: readonly string[]; find: (pattern: RegExp) => string | undefined },
): Hint | null {
  const total = find(/(^|\.)(total|total_?(count|items|results|records)|count)$/i);
  const totalPages = find(/(^|\.)(total_?pages|page_?count|last_?page|pages)$/i);
  const page = query.find(isPageParam);
  if (page !== undefined) {
    const stated = {
      ...(total === undefined ? {} : { totalPath: `$.${total}` }),
      ...(totalPages === undefined ? {} : { totalPagesPath: `$.${totalPages}` }),
    };
    return { paginator: { type: 'pageNumber', pageParam: page, ...stated }, evidence: `?${page}=` };
  }
  const offset = query.find((name) => /^(offset|skip|start|start_?at)$/i.test(name));
  const limit = query.find(isSizeParam);
  if (offset === undefined) return null;
  const stated = total === undefined ? {} : { totalPath: `$.${total}` };
  const paginator: Paginator = {
    type: 'offset',
    limit: pageSizeOf(list) ?? 100,
    offsetParam: offset,
    limitParam: limit ?? null,
    ...stated,
  };
  return { paginator, evidence: `?${offset}=` };
}

function fieldPaths(document: OpenApiDocument, schema: JsonObject, prefix = '', depth = 0): string[] {
  return Object.entries(document.properties(schema)).flatMap(([key, value]) => {
    if (!/^\w+$/.test(key) || document.itemsOf(value) !== null) return [];
    const below = depth < 1 ? fieldPaths(document, document.follow(value), `${prefix}${key}.`, depth + 1) : [];
    return below.length > 0 ? below : [`${prefix}${key}`];
  });
}

function isPageParam(name: string): boolean {
  return /^(page|p|page_?(number|no|num|index))$/i.test(name);
}

export function isSizeParam(name: string): boolean {
  return /^(limit|per_?page|page_?size|size|max_?results|rows|top)$/i.test(name);
}

/** @returns the largest page the document allows; null when it sets none */
export function pageSizeOf({ parameters }: { parameters: readonly Parameter[] }): number | null {
  const schema = parameters.find((parameter) => parameter.in === 'query' && isSizeParam(parameter.name))?.schema;
  const size = schema?.maximum ?? schema?.default;
  return typeof size === 'number' && Number.isInteger(size) && size > 0 ? size : null;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
