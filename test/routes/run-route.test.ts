import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineRoute } from '../../src/routes/define-route.ts';
import { RouteError } from '../../src/routes/route-error.ts';
import { runRoute } from '../../src/routes/run-route.ts';
import { pageOf } from './fixture.ts';

describe('what a route finds', () => {
  test('goes to the dataset it names, to `default` when it names none, and to others by name', () => {
    const extract = () => ({ records: [{ id: 1 }], recordsByDataset: { makers: [{ name: 'A' }] } });
    const named = runRoute(defineRoute({ label: 'items', dataset: 'items', extract }), pageOf({}));
    const unnamed = runRoute(defineRoute({ label: 'items', extract }), pageOf({}));
    expect(named.records).toEqual([
      { dataset: 'items', record: { id: 1 } },
      { dataset: 'makers', record: { name: 'A' } },
    ]);
    expect(unnamed.records[0]?.dataset).toBe('default');
  });

  test('may come from generators', () => {
    const route = defineRoute({
      label: 'items',
      extract: () => ({
        records: (function* () {
          yield 1;
          yield 2;
        })(),
      }),
    });
    expect(runRoute(route, pageOf({})).records.map(({ record }) => record)).toEqual([1, 2]);
  });

  test('is nothing when extract gives nothing', () => {
    const route = defineRoute({ label: 'items', extract: () => ({}) });
    expect(runRoute(route, pageOf({}))).toEqual({ records: [], invalid: [], requests: [], values: [] });
  });
});

describe('schemas', () => {
  test('a body that does not fit is invalid as a whole, each issue with its place, and nothing is extracted', () => {
    const response = z.object({ items: z.array(z.object({ price: z.number() })) });
    const extract = () => {
      throw new Error('must not be called');
    };
    const body = { items: [{ price: 1 }, { price: 'free' }, {}] };
    expect(runRoute(defineRoute({ label: 'items', response, extract }), pageOf({ body }))).toEqual({
      records: [],
      requests: [],
      values: [],
      invalid: [
        {
          issues: [
            'items[1].price: Invalid input: expected number, received string',
            'items[2].price: Invalid input: expected number, received undefined',
          ],
          record: body,
          isBody: true,
        },
      ],
    });
  });

  test('an issue of the whole body has no place before it', () => {
    const route = defineRoute({ label: 'items', response: z.array(z.unknown()), extract: () => ({}) });
    expect(runRoute(route, pageOf({ body: null })).invalid[0]?.issues).toEqual([
      'Invalid input: expected array, received null',
    ]);
  });

  test('extract and the dataset get what the schemas give back', () => {
    const route = defineRoute({
      label: 'items',
      response: z.object({ day: z.coerce.date() }),
      record: z.object({ year: z.number() }),
      extract: ({ body }) => ({ records: [{ year: body.day.getUTCFullYear(), dropped: true }] }),
    });
    const { records } = runRoute(route, pageOf({ body: { day: '2026-01-31', dropped: true } }));
    expect(records).toEqual([{ dataset: 'default', record: { year: 2026 } }]);
  });

  test('a record that does not fit is invalid, and the others are kept', () => {
    const record = z.object({ id: z.int() });
    const route = defineRoute({
      label: 'items',
      record,
      extract: () => ({ records: [{ id: 1 }, { id: 1.5 }, { id: 3 }] }),
    });
    const result = runRoute(route, pageOf({}));
    expect(result.records.map((found) => found.record)).toEqual([{ id: 1 }, { id: 3 }]);
    expect(result.invalid).toEqual([
      { issues: ['id: Invalid input: expected int, received number'], record: { id: 1.5 } },
    ]);
  });
});

describe('follow-up requests', () => {
  const routeTo = (url: string, label?: string) =>
    defineRoute({ label: 'list', extract: () => ({ requests: [label === undefined ? { url } : { url, label }] }) });
  const page = pageOf({ url: 'https://api.example.com/v1/items?page=1' });
  const target = (url: string) => runRoute(routeTo(url), page).requests[0]?.url;

  test('are resolved against the page, and go to the same route unless they say otherwise', () => {
    expect(target('?page=2')).toBe('https://api.example.com/v1/items?page=2');
    expect(target('/v2/x')).toBe('https://api.example.com/v2/x');
    expect(target('detail/7')).toBe('https://api.example.com/v1/detail/7');
    expect(target('//other.example/a')).toBe('https://other.example/a');
    expect(target('https://other.example/a')).toBe('https://other.example/a');
    expect(runRoute(routeTo('?page=2'), page).requests[0]?.label).toBe('list');
    expect(runRoute(routeTo('?page=2', 'detail'), page).requests[0]?.label).toBe('detail');
  });

  test('a URL that is none fails the request with what was asked for, and where', () => {
    expect(() => target('https://[oops')).toThrow(
      new RouteError({
        label: 'list',
        problem: 'asked for "https://[oops" on https://api.example.com/v1/items?page=1, which is no URL',
      }),
    );
  });
});

describe('an extract that throws', () => {
  test('is a RouteError which names route, page and reason, keeps the cause and is not tried again', () => {
    const cause = new TypeError('x is not iterable');
    const route = defineRoute({
      label: 'items',
      extract: () => {
        throw cause;
      },
    });
    const error = catchError(() => runRoute(route, pageOf({ url: 'https://api.example.com/1' })));
    expect(error).toBeInstanceOf(RouteError);
    expect(error).toMatchObject({ code: 'ROUTE_FAILED', recovery: 'skip', cause });
    expect(String(error)).toContain('Route "items" threw on https://api.example.com/1: x is not iterable');
  });

  test('is one too when a generator throws half-way', () => {
    const route = defineRoute({
      label: 'items',
      extract: () => ({
        records: (function* () {
          yield 1;
          throw new Error('half-way');
        })(),
      }),
    });
    expect(() => runRoute(route, pageOf({}))).toThrow(RouteError);
  });
});

function catchError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
