import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { UsageError } from '../../src/core/errors.ts';
import { exampleItem, exampleList } from '../../src/routes/_template.ts';
import { defineRoute } from '../../src/routes/define-route.ts';
import { exactNumber } from '../../src/routes/exact-number.ts';
import { routes } from '../../src/routes/index.ts';
import { createRouteRegistry } from '../../src/routes/registry.ts';
import { RouteError, UnknownLabelError } from '../../src/routes/route-error.ts';
import { runRoute } from '../../src/routes/run-route.ts';
import { pageOf } from './fixture.ts';

const extract = () => ({});
const context = { practiceApiUrl: 'http://127.0.0.1:8080' };

describe('labels', () => {
  test('lead to their routes', () => {
    const list = defineRoute({ label: 'list', extract });
    const registry = createRouteRegistry([list, defineRoute({ label: 'item', extract })]);
    expect(registry.labels).toEqual(['list', 'item']);
    expect(registry.get('list')).toBe(list);
  });

  test('that no route has are refused, with the known ones named; the crawl goes on', () => {
    const registry = createRouteRegistry(['list', 'item'].map((label) => defineRoute({ label, extract })));
    expect(() => registry.get('itme')).toThrow(
      'No route has the label "itme"; known are list, item. Routes are listed in src/routes/index.ts',
    );
    expect(new UnknownLabelError({ label: 'x', known: [] })).toMatchObject({
      code: 'UNKNOWN_LABEL',
      recovery: 'skip',
      message: 'No route has the label "x"; there are no routes. Routes are listed in src/routes/index.ts',
    });
  });

  test('that several routes have are a usage error which names each once', () => {
    const twice = ['a', 'b', 'a', 'a', 'b', 'c'].map((label) => defineRoute({ label, extract }));
    expect(() => createRouteRegistry(twice)).toThrow(UsageError);
    expect(() => createRouteRegistry(twice)).toThrow(
      'Two routes have the label "a" in src/routes/index.ts: rename one\n' +
        'Two routes have the label "b" in src/routes/index.ts: rename one',
    );
  });

  test('must not be empty', () => {
    expect(() => defineRoute({ label: ' ', extract })).toThrow(TypeError);
  });
});

describe('seeds', () => {
  test('come from every route in order, from lists and async generators, with the label of their route', async () => {
    async function* slowly() {
      yield { url: 'https://b.example/1' };
      yield { url: 'https://b.example/2', label: 'a' };
    }
    const registry = createRouteRegistry([
      defineRoute({ label: 'a', seeds: () => [{ url: 'https://a.example/' }], extract }),
      defineRoute({ label: 'none', extract }),
      defineRoute({ label: 'b', seeds: slowly, extract }),
    ]);
    expect(await Array.fromAsync(registry.seeds(context))).toEqual([
      { url: 'https://a.example/', label: 'a' },
      { url: 'https://b.example/1', label: 'b' },
      { url: 'https://b.example/2', label: 'a' },
    ]);
  });

  test('as shipped begin at the practice API', async () => {
    expect(await Array.fromAsync(createRouteRegistry(routes).seeds(context))).toEqual([
      { url: 'http://127.0.0.1:8080/products', label: 'practice-products' },
    ]);
  });
});

describe('userData', () => {
  const userData = z.object({ page: z.coerce.number() });
  const registry = createRouteRegistry([
    defineRoute({ label: 'list', userData, extract }),
    defineRoute({ label: 'any', extract }),
  ]);
  const url = 'https://api.example.com/';

  test('is handed on as its schema gives it back', () => {
    expect(registry.prepare({ url, label: 'list', userData: { page: '2' } }).userData).toEqual({ page: 2 });
  });

  test('that does not fit is refused when the request is added', () => {
    expect(() => registry.prepare({ url, label: 'list' })).toThrow(RouteError);
    expect(() => registry.prepare({ url, label: 'list', userData: { page: 'x' } })).toThrow(
      `Route "list" cannot take the userData of ${url}: page: Invalid input: expected number, received NaN`,
    );
  });

  test('of a route without a schema is left alone', () => {
    const request = { url, label: 'any', userData: { whatever: true } };
    expect(registry.prepare(request)).toBe(request);
  });

  test('of an unknown label is refused as such', () => {
    expect(() => registry.prepare({ url, label: 'nope' })).toThrow(UnknownLabelError);
  });
});

describe('an exact number', () => {
  test.each([
    [1.5],
    [2n ** 60n],
    [(JSON as JSON & { rawJSON: (text: string) => object }).rawJSON('0.1000000000000000055511151231257827')],
  ])('takes %s and leaves it as it is', (value) => {
    expect(exactNumber().parse(value)).toBe(value);
  });

  test.each([['1'], [null], [{}], [[]], [Number.NaN]])('refuses %s', (value) => {
    expect(exactNumber().safeParse(value).success).toBe(false);
  });
});

describe('the template', () => {
  test('is two routes that work as they stand', () => {
    const body = { items: [{ id: 7 }], next: '/items?cursor=b' };
    const list = runRoute(exampleList, pageOf({ url: 'https://api.example.com/items', body }));
    expect(list.requests.map(({ url, label }) => [label, url])).toEqual([
      ['EXAMPLE-LIST', 'https://api.example.com/items?cursor=b'],
      ['EXAMPLE-ITEM', 'https://api.example.com/items/7'],
    ]);
    const registry = createRouteRegistry([exampleList, exampleItem]);
    const { userData } = registry.prepare(list.requests[1]!);
    const item = runRoute(exampleItem, pageOf({ body: { id: 7, name: 'Seven' }, userData: userData ?? {} }));
    expect(item.records).toEqual([
      { dataset: 'EXAMPLE-ITEMS', record: { id: 7, name: 'Seven', foundOn: 'https://api.example.com/items' } },
    ]);
  });
});
