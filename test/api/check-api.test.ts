import { describe, expect, test } from 'vitest';
import { systemFiles } from '../../src/api/api-context.ts';
import { checkApi } from '../../src/api/check-api.ts';
import { inspectApi } from '../../src/api/compile-api.ts';
import { moduleImporter } from '../../src/api/load-module.ts';
import { type ApiDocument, apiSchema } from '../../src/config/api-schema.ts';
import { pathText } from '../../src/config/path-text.ts';

const secrets = { env: (name: string) => (name === 'SET' ? 'x' : undefined), file: () => undefined };
type Resource = ApiDocument['resources'][number];

function problems(document: Partial<ApiDocument>): string[] {
  const whole = { baseUrl: 'https://api.test', resources: [{ name: 'a', endpoint: { path: '/a' } }], ...document };
  return checkApi(apiSchema.parse(whole), secrets).map(({ path, text }) => `${pathText(path)}: ${text}`);
}
const resource = (name: string, endpoint: Partial<Resource['endpoint']>, rest: Partial<Resource> = {}): Resource => ({
  name,
  endpoint: { path: `/${name}`, ...endpoint },
  ...rest,
});

describe('an api', () => {
  test('that is right has no problem', () => {
    expect(problems({ auth: { type: 'bearer', token: '${env:SET}' } })).toEqual([]);
  });

  test.each([
    [
      { resources: [resource('products', {}), resource('reviews', { path: '/p/{resources.product.id}/reviews' })] },
      'resources[1].endpoint.path: {resources.product.id}: there is no resource "product". Did you mean products?',
    ],
    [
      { resources: [resource('reviews', { params: { p: '{resources.zzz.id}' } })] },
      'resources[0].endpoint.params.p: {resources.zzz.id}: there is no resource "zzz". Resources are reviews.',
    ],
    [
      { resources: [resource('a', { path: '/{resource.b.id}' })] },
      'resources[0].endpoint.path: {resource.b.id} is no placeholder: those are {resources.NAME.FIELD} and {incremental.startValue}.',
    ],
    [
      {
        resources: [
          resource('a', { path: '/{resources.c.id}' }),
          resource('b', { path: '/{resources.a.id}' }),
          resource('c', { json: { x: '{resources.b.id}' } }),
        ],
      },
      'resources[0].endpoint: resources need each other in a circle: a -> c -> b -> a.',
    ],
    [
      { resources: [resource('a', { path: '/{resources.a.id}' })] },
      'resources[0].endpoint: resources need each other in a circle: a -> a.',
    ],
    [
      {
        resources: [
          resource('a', {}),
          resource('b', {}),
          resource('c', { path: '/{resources.a.id}/{resources.b.id}' }),
        ],
      },
      'resources[2].endpoint: it needs records of both a and b, of which neither is made from the other.',
    ],
    [
      { resources: [resource('a', {}, { includeFromParent: ['id'] })] },
      'resources[0].includeFromParent: a has no parent: its path, params, headers or json name no {resources.NAME.FIELD}.',
    ],
    [{ resources: [resource('a', {}), resource('a', {})] }, 'resources[1].name: "a" is the name of two resources.'],
    [
      { resources: [resource('a', {}), resource('b', { path: '/a/{id}/b' })] },
      "resources[1].endpoint.path: {id} names nothing: {resources.NAME.FIELD} is a field of another resource's records, as {resources.a.id}; a fixed value stands without braces.",
    ],
    [
      { auth: { type: 'bearer', token: '${env:NOT_SET}' } as const },
      'auth.token: ${env:NOT_SET}: the environment variable NOT_SET is not set.',
    ],
    [
      { headers: { 'X-Key': '${file:key.txt}' } },
      'headers["X-Key"]: ${file:key.txt}: the file key.txt cannot be read.',
    ],
    [{ baseUrl: 'api.test' }, 'baseUrl: must be an http or https URL, not "api.test".'],
    [
      { baseUrl: 'https://me:pw@api.test' },
      'baseUrl: must not hold credentials: use auth: {type: httpBasic, username: ..., password: ...}.',
    ],
    [
      { baseUrl: 'https://api.test?x=1' },
      'baseUrl: must not hold a query: put it into resourceDefaults: {endpoint: {params: ...}}.',
    ],
    [
      { resources: [resource('a', { dataSelector: 'items' })] },
      'resources[0].endpoint.dataSelector: "items" is no JSONPath (RFC 9535): it starts with $, as in $.items.',
    ],
    [
      { paginator: { type: 'cursor', cursorPath: '$.[' } as const },
      "paginator.cursorPath: \"$.[\" is no JSONPath (RFC 9535): unexpected shorthand selector '[' ('$.[':2).",
    ],
    [
      { resources: [resource('a', { params: { since: '{incremental.startValue}' } })] },
      'resources[0].endpoint: {incremental.startValue} needs incremental: {cursorPath: ..., initialValue: ...} beside it.',
    ],
    [
      { resources: [resource('a', { method: 'get', json: {} })] },
      'resources[0].endpoint.json: a GET has no body: set method: POST.',
    ],
    [
      { resources: [resource('a', { paginator: { type: 'cursor', cursorBodyPath: 'c' } })] },
      'resources[0].endpoint: its paginator writes into a JSON body, and a GET has none: set method: POST.',
    ],
  ] as [Partial<ApiDocument>, string][])('%j', (document, expected) => {
    expect(problems(document)).toEqual([expected]);
  });

  test('with several problems has all of them told', () => {
    expect(
      problems({ baseUrl: 'x', headers: { A: '${env:B}' }, resources: [resource('a', { path: '{resources.b.c}' })] }),
    ).toHaveLength(3);
  });

  test('that refers to files has them looked at', async () => {
    const files = systemFiles(import.meta.dirname, {});
    const api = apiSchema.parse({
      baseUrl: 'https://api.test',
      auth: { type: 'custom', module: './fixtures/none.ts' },
      paginator: { type: 'code', module: './fixtures/own-auth.ts' },
      resources: [
        { name: 'a', schema: './fixtures/none.json', endpoint: { path: '/a' } },
        { name: 'b', schema: { type: 'nonsense' }, endpoint: { path: '/b' } },
        { name: 'c', schema: './fixtures/own-auth.ts', endpoint: { path: '/c' } },
      ],
    });
    const found = await inspectApi(api, { ...files, importModule: moduleImporter(files.pathOf) });
    expect(found.map(({ path, text }) => `${pathText(path)}: ${text}`)).toEqual([
      'paginator.module: ./fixtures/own-auth.ts exports no function "paginator"; it exports auth.',
      expect.stringContaining('auth.module: ./fixtures/none.ts cannot be loaded: Cannot find'),
      'resources[0].schema: ./fixtures/none.json cannot be read.',
      expect.stringContaining('resources[1].schema: schema is invalid'),
      expect.stringContaining('resources[2].schema: ./fixtures/own-auth.ts is no JSON'),
    ]);
  });
});

describe('the schema', () => {
  test.each([
    [{ paginator: { type: 'curser' } }, 'Unknown paginator "curser". Did you mean cursor?'],
    [{ auth: { type: 'oauth' } }, 'Unknown auth "oauth".'],
    [{ auth: {} }, 'The type of auth is missing: one of bearer'],
    [
      { resources: [resource('a', { responseActions: [{ action: 'skip' }] })] },
      'needs statusCode, content or condition',
    ],
    [{ resources: [resource('my things', {})] }, '"my things" cannot be a name: it starts with a letter and has'],
    [{ resources: [{ name: 'a', endpoint: '/a' }] }, '"/a" is a path, not an endpoint: write endpoint: {path: "/a"}.'],
    [{ paginator: { type: 'page' } }, 'Unknown paginator "page". Did you mean pageNumber? Known: auto,'],
    [{ auth: { type: 'bearer_token' } }, 'Unknown auth "bearer_token". Did you mean bearer? Known: bearer,'],
  ])('refuses %j', (document, message) => {
    const result = apiSchema.safeParse({ baseUrl: 'https://api.test', resources: [resource('a', {})], ...document });
    expect(result.error?.issues.map((issue) => issue.message).join('\n')).toContain(message);
  });
});
