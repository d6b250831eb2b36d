import type { ApiConfig, PaginatorConfig } from '../config/api-schema.ts';
import type { Problem } from '../config/describe-issues.ts';
import { messageOf } from '../core/errors.ts';
import { didYouMean } from '../core/nearest-name.ts';
import { referencesIn, type SecretSource } from './references.ts';
import { buildTree } from './resource-tree.ts';
import { type Resource, resolveResources } from './resources.ts';
import { compileSelector } from './selector.ts';
import { placeholdersIn, suspiciousPlaceholders } from './template.ts';

type Path = readonly (string | number)[];
type Place = { path: Path; text: string };

/**
 * Checks what a schema cannot: placeholders, circles, selectors, references. Nothing is requested.
 * @param secrets where references are looked up; null = not checked
 * @returns every problem, with its path within `api`
 */
export function checkApi(api: ApiConfig, secrets: SecretSource | null): Problem[] {
  const resources = resolveResources(api);
  const places = [...stringPlaces(api, [])];
  return [
    ...checkBaseUrl(api),
    ...checkNames(api),
    ...places.flatMap((place) => checkPlaceholders(place, api)),
    ...checkTree(api, resources),
    ...resources.flatMap((resource, index) => checkResource(resource, index)),
    ...selectorPlaces(api).flatMap(checkSelector),
    ...(secrets === null ? [] : places.flatMap((place) => checkReferences(place, secrets))),
  ];
}

function problem(path: Path, text: string, isAboutKey = false): Problem {
  return { path, text, isAboutKey };
}

function* stringPlaces(value: unknown, path: Path): Generator<Place> {
  if (typeof value === 'string') yield { path, text: value };
  else if (Array.isArray(value)) for (const [at, inner] of value.entries()) yield* stringPlaces(inner, [...path, at]);
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* stringPlaces(inner, [...path, key]);
}

function checkBaseUrl({ baseUrl }: ApiConfig): Problem[] {
  if (referencesIn(baseUrl).length > 0) return [];
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol))
    return [problem(['baseUrl'], `must be an http or https URL, not "${baseUrl}".`)];
  if (url.username !== '' || url.password !== '')
    return [
      problem(['baseUrl'], 'must not hold credentials: use auth: {type: httpBasic, username: ..., password: ...}.'),
    ];
  return url.search === '' && url.hash === ''
    ? []
    : [problem(['baseUrl'], 'must not hold a query: put it into resourceDefaults: {endpoint: {params: ...}}.')];
}

function checkNames({ resources }: ApiConfig): Problem[] {
  return resources.flatMap(({ name }, index) => {
    const first = resources.findIndex((other) => other.name === name);
    return first === index ? [] : [problem(['resources', index, 'name'], `"${name}" is the name of two resources.`)];
  });
}

function checkPlaceholders({ path, text }: Place, { resources }: ApiConfig): Problem[] {
  const names = resources.map(({ name }) => name);
  const unknown = placeholdersIn(text).flatMap((placeholder) => {
    if (placeholder.kind !== 'resource' || names.includes(placeholder.resource)) return [];
    const advice = didYouMean(placeholder.resource, names) || ` Resources are ${names.join(', ')}.`;
    return [problem(path, `${placeholder.text}: there is no resource "${placeholder.resource}".${advice}`)];
  });
  const odd = suspiciousPlaceholders(text).flatMap(({ text: found, root }) => {
    const isMeant = path.at(-1) === 'path' || didYouMean(root, ['resources', 'incremental']) !== '';
    if (!isMeant) return [];
    return [
      problem(path, `${found} is no placeholder: those are {resources.NAME.FIELD} and {incremental.startValue}.`),
    ];
  });
  return [...unknown, ...odd, ...checkBraces({ path, text }, names)];
}

// As OpenAPI writes them: sent as they are, they name nothing.
const OPENAPI_PARAMETER = /(?<!\$)\{[A-Za-z_]\w*\}/g;

function checkBraces({ path, text }: Place, names: readonly string[]): Problem[] {
  if (path.at(-1) !== 'path') return [];
  const example = names[0] ?? 'NAME';
  return [...text.matchAll(OPENAPI_PARAMETER)].map(([found]) =>
    problem(
      path,
      `${found} names nothing: {resources.NAME.FIELD} is a field of another resource's records, as {resources.${example}.id}; a fixed value stands without braces.`,
    ),
  );
}

function checkTree(api: ApiConfig, resources: readonly Resource[]): Problem[] {
  const { tree, problems } = buildTree(resources);
  const indexOf = (name: string): number => resources.findIndex((resource) => resource.name === name);
  const found = problems.map(({ resource, message }) =>
    problem(['resources', indexOf(resource), 'endpoint'], `${message}.`),
  );
  if (tree.size === 0) return found;
  const orphans = api.resources.flatMap((resource, index) => {
    const isChild = tree.get(resource.name)?.parent !== null;
    if (resource.includeFromParent === undefined || isChild) return [];
    const text = `${resource.name} has no parent: its path, params, headers or json name no {resources.NAME.FIELD}.`;
    return [problem(['resources', index, 'includeFromParent'], text)];
  });
  return [...found, ...orphans];
}

function checkResource({ endpoint }: Resource, index: number): Problem[] {
  const path = ['resources', index, 'endpoint'];
  const usesStart = [...stringPlaces(endpoint, [])].some(({ text }) => text.includes('{incremental.startValue}'));
  const problems: Problem[] = [];
  if (usesStart && endpoint.incremental === null)
    problems.push(
      problem(path, '{incremental.startValue} needs incremental: {cursorPath: ..., initialValue: ...} beside it.'),
    );
  if (endpoint.json !== undefined && ['GET', 'HEAD'].includes(endpoint.method))
    problems.push(problem([...path, 'json'], `a ${endpoint.method} has no body: set method: POST.`));
  if (needsBody(endpoint.paginator) && ['GET', 'HEAD'].includes(endpoint.method))
    problems.push(
      problem(path, `its paginator writes into a JSON body, and a ${endpoint.method} has none: set method: POST.`),
    );
  return problems;
}

function needsBody(paginator: PaginatorConfig): boolean {
  if (paginator.type === 'graphqlRelay') return true;
  return Object.keys(paginator).some((key) => key.endsWith('BodyPath'));
}

/** Every JSONPath of the api with its place. */
function selectorPlaces(api: ApiConfig): Place[] {
  const places: Place[] = [...stringPlaces(api, [])];
  return places.filter(({ path, text }) => {
    const key = path.at(-1);
    const isJsonBody = path.includes('json') || path.includes('schema') || path.includes('options');
    if (typeof key !== 'string' || isJsonBody || path.at(-2) === 'params' || path.at(-2) === 'headers') return false;
    return SELECTOR_KEYS.has(key) || (key === 'cursorPath' && (path.at(-2) === 'paginator' || text.startsWith('$')));
  });
}

const SELECTOR_KEYS = new Set([
  'dataSelector',
  'nextUrlPath',
  'hasMorePath',
  'stopCondition',
  'totalPath',
  'totalPagesPath',
  'connectionPath',
  'condition',
]);

function checkSelector({ path, text }: Place): Problem[] {
  try {
    compileSelector(text);
    return [];
  } catch (error) {
    return [problem(path, `${messageOf(error)}.`)];
  }
}

function checkReferences({ path, text }: Place, secrets: SecretSource): Problem[] {
  return referencesIn(text).flatMap(({ text: reference, kind, name }) => {
    const value = kind === 'env' ? secrets.env(name) : secrets.file(name);
    if (value !== undefined) return [];
    const reason = kind === 'env' ? `the environment variable ${name} is not set` : `the file ${name} cannot be read`;
    return [problem(path, `${reference}: ${reason}.`)];
  });
}
