import { scalarText, valueAt } from './json-value.ts';

/** One `{...}` of a template. */
export type Placeholder =
  | { kind: 'resource'; text: string; resource: string; field: string }
  | { kind: 'incremental'; text: string };

/** Values placeholders stand for: fields of the records above by resource, and where the last run ended. */
export type TemplateScope = {
  resources: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  incrementalStart: unknown;
};

// Other braces are text: GraphQL queries are full of them.
const PLACEHOLDER = /\{(resources\.([^.{}]+)\.([^{}]+)|incremental\.startValue)\}/g;
// What a typing error leaves: {resource.products.id}, {incremental.start}.
const LOOKS_LIKE_ONE = /\$?\{\s*(\w+)\.[^{}\s]*\s*\}/g;

/** @returns the placeholders of a text in order. */
export function placeholdersIn(text: string): Placeholder[] {
  return [...text.matchAll(PLACEHOLDER)].map(([whole, , resource, field]) =>
    resource === undefined
      ? { kind: 'incremental', text: whole }
      : { kind: 'resource', text: whole, resource, field: field! },
  );
}

/** @returns what looks like a placeholder and is none: `{resource.a.id}`; references such as `${env:X}` are not meant. */
export function suspiciousPlaceholders(text: string): { text: string; root: string }[] {
  return [...text.replaceAll(PLACEHOLDER, '').matchAll(LOOKS_LIKE_ONE)]
    .filter(([whole]) => !whole.startsWith('$'))
    .map(([whole, root]) => ({ text: whole, root: root! }));
}

/** A placeholder without a value: the record above has no such field, or it is null, a list or an object. */
export class MissingValueError extends Error {
  override readonly name = 'MissingValueError';
  readonly placeholder: string;
  constructor(placeholder: string, found: unknown) {
    const kind = found === undefined ? 'missing' : found === null ? 'null' : 'no scalar';
    super(`${placeholder} is ${kind}`);
    this.placeholder = placeholder;
  }
}

/**
 * Fills a text in.
 * @param encode applied to each value (encodeURIComponent in a path)
 * @throws MissingValueError
 */
export function renderText(text: string, scope: TemplateScope, encode: (value: string) => string = String): string {
  return text.replaceAll(PLACEHOLDER, (whole, _inner, resource?: string, field?: string) => {
    const value = lookUp(scope, resource, field);
    const rendered = scalarText(value);
    if (rendered === undefined) throw new MissingValueError(whole, value);
    return encode(rendered);
  });
}

/**
 * Fills in every string of a JSON value. A string that is one placeholder becomes the value itself: a number stays one.
 * @throws MissingValueError
 */
export function renderJson(value: unknown, scope: TemplateScope): unknown {
  if (typeof value === 'string') return renderJsonString(value, scope);
  if (Array.isArray(value)) return value.map((item) => renderJson(item, scope));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, renderJson(inner, scope)]));
}

function renderJsonString(text: string, scope: TemplateScope): unknown {
  const [only] = placeholdersIn(text);
  if (only?.text !== text) return renderText(text, scope);
  const value = only.kind === 'resource' ? lookUp(scope, only.resource, only.field) : lookUp(scope);
  if (scalarText(value) === undefined) throw new MissingValueError(text, value);
  return value;
}

function lookUp(scope: TemplateScope, resource?: string, field?: string): unknown {
  if (resource === undefined || field === undefined) return scope.incrementalStart;
  return valueAt(scope.resources[resource], field);
}
