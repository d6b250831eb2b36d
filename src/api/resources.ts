import type { ApiConfig, PaginatorConfig, ResourceConfig, SchemaContract } from '../config/api-schema.ts';
import { placeholdersIn } from './template.ts';

type EndpointConfig = ResourceConfig['endpoint'];

/** A resource with everything it takes from resourceDefaults and the api filled in. */
export type Resource = {
  name: string;
  primaryKey: readonly string[];
  includeFromParent: readonly string[];
  schema: NonNullable<ResourceConfig['schema']> | null;
  schemaContract: SchemaContract;
  dataset: string;
  /** null = as its host's sessions. */
  session: NonNullable<ResourceConfig['session']> | null;
  endpoint: {
    path: string;
    method: string;
    params: NonNullable<EndpointConfig['params']>;
    headers: Readonly<Record<string, string>>;
    /** undefined = no body. */
    json: unknown;
    dataSelector: string | null;
    paginator: PaginatorConfig;
    incremental: NonNullable<EndpointConfig['incremental']> | null;
    responseActions: NonNullable<EndpointConfig['responseActions']>;
    parallelPages: 'auto' | 'off';
  };
};

/** @returns the resources in the order written, defaults laid under each, key by key */
export function resolveResources(api: ApiConfig): Resource[] {
  return api.resources.map((resource) => resolveResource(resource, api));
}

function resolveResource(resource: ResourceConfig, api: ApiConfig): Resource {
  const defaults = api.resourceDefaults ?? {};
  const under = defaults.endpoint ?? {};
  const { endpoint } = resource;
  const merged = { ...defaults, ...resource };
  const json = endpoint.json === undefined ? under.json : endpoint.json;
  return {
    name: resource.name,
    primaryKey: [merged.primaryKey ?? []].flat(),
    includeFromParent: merged.includeFromParent ?? [],
    schema: merged.schema ?? null,
    schemaContract: merged.schemaContract ?? 'quarantine',
    dataset: merged.dataset ?? resource.name,
    session: merged.session ?? null,
    endpoint: {
      path: endpoint.path,
      method: (endpoint.method ?? under.method ?? (json === undefined ? 'GET' : 'POST')).toUpperCase(),
      params: { ...under.params, ...endpoint.params },
      headers: { ...under.headers, ...endpoint.headers },
      json,
      dataSelector: endpoint.dataSelector ?? under.dataSelector ?? null,
      paginator: endpoint.paginator ?? under.paginator ?? api.paginator ?? AUTO,
      incremental: endpoint.incremental ?? under.incremental ?? null,
      responseActions: endpoint.responseActions ?? under.responseActions ?? [],
      parallelPages: endpoint.parallelPages ?? under.parallelPages ?? 'auto',
    },
  };
}

const AUTO: PaginatorConfig = { type: 'auto', stopAfterEmptyPage: false, onRepeatedPage: 'fail' };

/** A field of another resource that a resource's requests are made from. */
export type FieldUse = { resource: string; field: string };

/** @returns the fields of other resources its path, params, headers and json ask for, each once */
export function fieldsUsed({ endpoint }: Pick<Resource, 'endpoint'>): FieldUse[] {
  const { path, params, headers, json } = endpoint;
  const uses = new Map<string, FieldUse>();
  for (const text of stringsIn([path, params, headers, json])) {
    for (const placeholder of placeholdersIn(text)) {
      if (placeholder.kind !== 'resource') continue;
      const { resource, field } = placeholder;
      uses.set(placeholder.text, { resource, field });
    }
  }
  return [...uses.values()];
}

/** @returns all strings within a JSON value, keys left out */
export function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) yield* stringsIn(inner);
}
