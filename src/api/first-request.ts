import { jsonText } from './json-value.ts';
import { encodeQuery } from './paginate/edit-request.ts';
import type { PageRequest } from './paginate/paginator.ts';
import type { Resource } from './resources.ts';
import { renderJson, renderText, type TemplateScope } from './template.ts';

/**
 * The first request of a resource, before its paginator sets anything. References to secrets stay references.
 * @throws MissingValueError when a record above lacks a field
 */
export function firstRequest(resource: Resource, baseUrl: string, scope: TemplateScope): PageRequest {
  const { endpoint } = resource;
  const path = renderText(endpoint.path, scope, encodeURIComponent);
  const params = Object.entries(endpoint.params).flatMap(([name, value]) =>
    [value].flat().map((item) => `${encodeQuery(name)}=${encodeQuery(renderText(String(item), scope))}`),
  );
  const headers = Object.entries(endpoint.headers).map(([name, value]) => [
    name.toLowerCase(),
    renderText(value, scope),
  ]);
  const payload = endpoint.json === undefined ? null : jsonText(renderJson(endpoint.json, scope));
  return {
    url: withQuery(joinUrl(baseUrl, path), params),
    method: endpoint.method,
    headers: { ...(payload === null ? {} : { 'content-type': 'application/json' }), ...Object.fromEntries(headers) },
    payload,
  };
}

/** A path goes under the base, with or without a slash between; an absolute URL stands for itself. */
export function joinUrl(baseUrl: string, path: string): string {
  if (/^https?:\/\//i.test(path)) return path;
  if (path === '') return baseUrl;
  if (path.startsWith('?')) return `${baseUrl}${path}`;
  return `${baseUrl.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
}

function withQuery(url: string, params: readonly string[]): string {
  if (params.length === 0) return url;
  return `${url}${url.includes('?') ? '&' : '?'}${params.join('&')}`;
}
