import { describe, expect, test } from 'vitest';
import { firstRequest, joinUrl } from '../../src/api/first-request.ts';
import { encodeQuery, withoutParam, withPageValue, withParam } from '../../src/api/paginate/edit-request.ts';
import { nextUrl } from '../../src/api/paginate/next-url.ts';
import { resolveResources } from '../../src/api/resources.ts';
import { placeholdersIn, renderJson, renderText, suspiciousPlaceholders } from '../../src/api/template.ts';
import { apiSchema } from '../../src/config/api-schema.ts';

const scope = {
  resources: { orders: { id: 5, 'customer.key': 'a/b', exact: 9007199254740993n, none: null, deep: { er: 'x' } } },
  incrementalStart: '2024-01-01T00:00:00Z',
};

describe('a template', () => {
  test.each([
    ['/orders/{resources.orders.id}', '/orders/5'],
    ['/c/{resources.orders.customer.key}/x', '/c/a%2Fb/x'],
    ['/c/{resources.orders.deep.er}', '/c/x'],
    ['/e/{resources.orders.exact}', '/e/9007199254740993'],
    ['since={incremental.startValue}', 'since=2024-01-01T00%3A00%3A00Z'],
    ['query { orders { id } } ${env:X} {not.one}', 'query { orders { id } } ${env:X} {not.one}'],
  ])('%s becomes %s', (text, expected) => {
    expect(renderText(text, scope, encodeURIComponent)).toBe(expected);
  });

  test('keeps the type of a value that stands alone in JSON', () => {
    const json = {
      a: '{resources.orders.id}',
      b: ['no {resources.orders.id}'],
      c: { d: '{incremental.startValue}' },
      e: 1,
    };
    expect(renderJson(json, scope)).toEqual({ a: 5, b: ['no 5'], c: { d: '2024-01-01T00:00:00Z' }, e: 1 });
  });

  test.each(['none', 'missing', 'deep'])('cannot do without a scalar: %s', (field) => {
    expect(() => renderText(`{resources.orders.${field}}`, scope)).toThrow(`{resources.orders.${field}} is`);
    expect(() => renderJson(`{resources.orders.${field}}`, scope)).toThrow(`{resources.orders.${field}} is`);
  });

  test('is not evaluated: what a value holds is not looked at again', () => {
    const sly = { resources: { orders: { id: '{resources.orders.secret}', secret: 's' } }, incrementalStart: 0 };
    expect(renderText('{resources.orders.id}', sly)).toBe('{resources.orders.secret}');
  });

  test('tells placeholders from what looks like one', () => {
    expect(placeholdersIn('/{resources.a.b.c}/{incremental.startValue}').map(({ text }) => text)).toEqual([
      '{resources.a.b.c}',
      '{incremental.startValue}',
    ]);
    expect(suspiciousPlaceholders('/{resource.a.b}/{incremental.start}/${env:A.B}/{resources.a.b}')).toEqual([
      { text: '{resource.a.b}', root: 'resource' },
      { text: '{incremental.start}', root: 'incremental' },
    ]);
  });
});

describe('the first request', () => {
  const api = apiSchema.parse({
    baseUrl: 'https://api.test/v1/',
    resourceDefaults: { endpoint: { params: { limit: 5, lang: 'en' }, headers: { 'X-A': '1' } } },
    resources: [
      {
        name: 'orders',
        endpoint: { path: '/orders', params: { limit: 10, 'filter[state]': 'open,new', tag: ['a b', 'c&d'] } },
      },
      {
        name: 'search',
        endpoint: {
          path: 'search?x=1',
          json: { since: '{incremental.startValue}', ref: '${env:X}' },
          headers: { 'X-B': '{resources.orders.id}' },
        },
      },
    ],
  });
  const [orders, search] = resolveResources(api);

  test('has path and parameters, the defaults beneath, readable as one would write them', () => {
    expect(firstRequest(orders!, api.baseUrl, scope)).toEqual({
      url: 'https://api.test/v1/orders?limit=10&lang=en&filter[state]=open,new&tag=a%20b&tag=c%26d',
      method: 'GET',
      headers: { 'x-a': '1' },
      payload: null,
    });
  });

  test('is a POST where there is json, and references stay references', () => {
    expect(firstRequest(search!, api.baseUrl, scope)).toEqual({
      url: 'https://api.test/v1/search?x=1&limit=5&lang=en',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-a': '1', 'x-b': '5' },
      payload: '{"since":"2024-01-01T00:00:00Z","ref":"${env:X}"}',
    });
  });

  test.each([
    ['https://a.test', 'b', 'https://a.test/b'],
    ['https://a.test/v1/', '/b', 'https://a.test/v1/b'],
    ['https://a.test/v1', '', 'https://a.test/v1'],
    ['https://a.test/v1', '?q=1', 'https://a.test/v1?q=1'],
    ['https://a.test', 'https://b.test/c', 'https://b.test/c'],
  ])('%s and %s make %s', (base, path, url) => {
    expect(joinUrl(base, path)).toBe(url);
  });
});

describe('setting a value of a page', () => {
  test.each([
    ['https://a.test/x', 'page', '2', 'https://a.test/x?page=2'],
    ['https://a.test/x?page=1&f[a]=b%20c', 'page', '2', 'https://a.test/x?page=2&f[a]=b%20c'],
    ['https://a.test/x?a=1&page%5Bn%5D=1', 'page[n]', '2', 'https://a.test/x?a=1&page[n]=2'],
    ['https://a.test/x?p=1&p=2', 'p', '3', 'https://a.test/x?p=3'],
    ['https://a.test/x?q=1#top', 'c', 'a+b/=', 'https://a.test/x?q=1&c=a%2Bb/%3D#top'],
    ['https://a.test/x?bad=%zz', 'c', '1', 'https://a.test/x?bad=%zz&c=1'],
  ])('%s with %s=%s', (url, name, value, expected) => {
    expect(withParam(url, name, value)).toBe(expected);
    expect(new URL(expected).searchParams.getAll(name)).toEqual([value]);
  });

  test('in the body keeps the other fields, and every digit', () => {
    const request = {
      url: 'https://a.test',
      method: 'POST',
      headers: {},
      payload: '{"a":{"id":9007199254740993},"b":1.10}',
    };
    expect(withPageValue(request, { bodyPath: 'a.cursor' }, 'x').payload).toBe(
      '{"a":{"id":9007199254740993,"cursor":"x"},"b":1.10}',
    );
  });

  test('takes one out again', () => {
    expect(withoutParam('https://a.test/x?key=1&b=2', 'key')).toBe('https://a.test/x?b=2');
    expect(withoutParam('https://a.test/x?key=1#y', 'key')).toBe('https://a.test/x#y');
    expect(withoutParam('https://a.test/x', 'key')).toBe('https://a.test/x');
  });

  test('leaves references in a query as they are', () => {
    expect(encodeQuery('a&${env:KEY}&b')).toBe('a%26${env:KEY}%26b');
  });
});

describe('a next link', () => {
  test.each([
    ['?page=2', 'https://a.test/v1/items?page=1', 'https://a.test/v1/items?page=2'],
    ['/items?page=2', 'https://a.test/v1/items', 'https://a.test/items?page=2'],
    ['http://a.test/items?page=2', 'https://a.test/items', 'https://a.test/items?page=2'],
    ['http://b.test/items', 'https://a.test/items', 'http://b.test/items'],
    ['http://a.test:81/items', 'https://a.test/items', 'http://a.test:81/items'],
    ['https://a.test/x?q=a|b', 'https://a.test/', 'https://a.test/x?q=a|b'],
    ['javascript:alert(1)', 'https://a.test/', undefined],
    ['http://', 'https://a.test/', undefined],
  ])('%s on %s is %s', (target, url, expected) => {
    expect(nextUrl(target, { url })).toBe(expected);
  });
});
