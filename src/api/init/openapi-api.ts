import type { ApiDocument } from '../../config/api-schema.ts';
import { isJsonObject, scalarText } from '../json-value.ts';
import { authOf } from './openapi-auth.ts';
import { OpenApiDocument, OpenApiError } from './openapi-document.ts';
import { type LeftOut, type ListOperation, listOperations, type Parameter } from './openapi-operation.ts';
import { isSizeParam, pageSizeOf, paginationOf } from './openapi-pagination.ts';
import { guessPrimaryKeyByName, resourceNameOf, singularOf } from './primary-key.ts';
import type { Draft } from './probe-api.ts';

type ResourceDocument = ApiDocument['resources'][number];
type Named = { name: string; list: ListOperation };

/**
 * A starting configuration from an OpenAPI 3 document: every GET that gives a list becomes a resource, hung below the
 * list its path parameters come from.
 * @param foundAt URL it was read from, for servers that are relative; null = a file
 * @throws OpenApiError
 */
export function draftFromOpenApi(root: unknown, foundAt: string | null): Draft {
  const document = new OpenApiDocument(root);
  const { lists, leftOut } = listOperations(document);
  if (lists.length === 0) throw new OpenApiError('none of its GET operations gives a list');
  const named = nameAll(lists);
  const { auth, note } = authOf(document);
  const made = named.map((own) => resourceOf(document, own, named));
  return {
    api: {
      baseUrl: baseUrlOf(document, foundAt),
      ...(auth === null ? {} : { auth }),
      resources: made.map(({ resource }) => resource),
    },
    notes: [...(note === null ? [] : [note]), ...made.map(({ note: own }) => own), ...leftOutNotes(leftOut)],
  };
}

function baseUrlOf({ root }: OpenApiDocument, foundAt: string | null): string {
  const [server] = Array.isArray(root.servers) ? root.servers : [];
  const { url = '/', variables } = isJsonObject(server) ? server : {};
  const filled = String(url).replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = isJsonObject(variables) ? variables[name] : undefined;
    return isJsonObject(variable) ? (scalarText(variable.default) ?? whole) : whole;
  });
  const absolute = URL.parse(filled, foundAt ?? undefined);
  return absolute === null ? '${env:API_URL}' : absolute.href.replace(/\/$/, '');
}

/** Short paths are named first: `/orders` is orders, `/shops/{id}/orders` then shops_orders. */
function nameAll(lists: readonly ListOperation[]): Named[] {
  const names = new Map<ListOperation, string>();
  const shortFirst = lists.toSorted((a, b) => a.path.split('/').length - b.path.split('/').length);
  for (const list of shortFirst) names.set(list, freeName(list.path, new Set(names.values())));
  return lists.map((list) => ({ name: names.get(list)!, list }));
}

/** The last part of the path; with those before it as long as the name is taken. */
function freeName(path: string, taken: ReadonlySet<string>): string {
  const parts = path.split('/').filter((part) => part !== '' && !part.startsWith('{'));
  for (let length = 1; length <= parts.length; length++) {
    const name = resourceNameOf(`/${parts.slice(-length).join('_')}`);
    if (!taken.has(name)) return name;
  }
  return `${resourceNameOf(path)}_${taken.size + 1}`;
}

function resourceOf(
  document: OpenApiDocument,
  { name, list }: Named,
  all: readonly Named[],
): { resource: ResourceDocument; note: string } {
  const { paginator, evidence } = paginationOf(document, list);
  const primaryKey = guessPrimaryKeyByName(
    Object.keys(document.properties(list.recordSchema)),
    singularOf(resourceNameOf(list.path)),
  );
  const params = paramsOf(list, paginator.type === 'offset' ? paginator.limitParam : null);
  return {
    resource: {
      name,
      ...(primaryKey === null ? {} : { primaryKey }),
      endpoint: {
        path: pathOf(document, list, all),
        ...(Object.keys(params).length === 0 ? {} : { params }),
        dataSelector: list.recordPath,
        paginator,
      },
    },
    note: `${name}: pages by ${paginator.type} (${evidence})`,
  };
}

/** Path parameters become fields of the list they come from, or environment variables where there is none. */
function pathOf(document: OpenApiDocument, { path }: ListOperation, all: readonly Named[]): string {
  return path.replaceAll(/\{([^{}]+)\}/g, (_, parameter: string, at: number) => {
    const above = path.slice(0, at).replace(/\/+$/, '');
    const parent = all.find(({ list }) => list.path.replace(/\/+$/, '') === above);
    if (parent === undefined) return `\${env:${variableName(parameter)}}`;
    const fields = Object.keys(document.properties(parent.list.recordSchema));
    return `{resources.${parent.name}.${fieldOf(parameter, parent.name, fields)}}`;
  });
}

/** {id}, {productId} and {product_id} are the key of a product, unless it has a field of that very name. */
function fieldOf(parameter: string, parent: string, fields: readonly string[]): string {
  if (fields.includes(parameter)) return parameter;
  const short = parameter.replace(new RegExp(`^${singularOf(parent)}[_-]?`, 'i'), '');
  const match = fields.find((field) => field.toLowerCase() === short.toLowerCase());
  return match ?? guessPrimaryKeyByName(fields, singularOf(parent)) ?? 'id';
}

function variableName(parameter: string): string {
  return parameter
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W+/g, '_')
    .toUpperCase();
}

function paramsOf(
  list: ListOperation,
  sentByPaginator: string | null | undefined,
): Record<string, string | number | boolean> {
  const params: Record<string, string | number | boolean> = {};
  const size = pageSizeOf(list);
  for (const parameter of list.parameters) {
    if (parameter.in !== 'query' || parameter.name === sentByPaginator) continue;
    if (isSizeParam(parameter.name) && size !== null) params[parameter.name] = size;
    else if (parameter.required) params[parameter.name] = requiredValueOf(parameter);
  }
  return params;
}

function requiredValueOf({ name, schema, example }: Parameter): string | number | boolean {
  const [first] = Array.isArray(schema.enum) ? schema.enum : [];
  const value: unknown = schema.default ?? example ?? schema.example ?? first;
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isPlain ? value : `\${env:${variableName(name)}}`;
}

function leftOutNotes(leftOut: readonly LeftOut[]): string[] {
  if (leftOut.length === 0) return [];
  const some = leftOut.slice(0, 10).map(({ path, reason }) => `${path} (${reason})`);
  return [
    `Left out: ${some.join(', ')}${leftOut.length > some.length ? `, and ${leftOut.length - some.length} more` : ''}`,
  ];
}
