import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SentRequest } from '../../src/routes/define-route.ts';
import { readExample } from './example.ts';
import { type Answer, memoryValues, playCrawl } from './play-crawl.ts';

type Exchange = {
  request: { method: string; url: string; variables?: Record<string, unknown> };
  response: { status: number; headers: Record<string, string>; body: unknown };
};

/** Answers from recorded exchanges: each request must be the next one recorded for its URL and variables. */
function recorded(name: string) {
  const left = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures', `${name}.json`), 'utf8')) as Exchange[];
  function answer(sent: SentRequest): Answer {
    const variables: unknown = sent.payload === null ? undefined : JSON.parse(sent.payload).variables;
    const at = left.findIndex(
      ({ request }) =>
        request.url === sent.url &&
        request.method === sent.method &&
        JSON.stringify(request.variables) === JSON.stringify(variables),
    );
    if (at < 0) throw new Error(`not recorded: ${sent.method} ${sent.url} ${JSON.stringify(variables)}`);
    return left.splice(at, 1)[0]!.response;
  }
  return { answer, left };
}

test('GitHub: issues of all pages at once, comments of each, waiting where the secondary limit says so', async () => {
  const { api, folder } = readExample('api-github-issues/github-issues');
  const { answer, left } = recorded('github-issues');
  const env = { GITHUB_REPOSITORY: 'octocat/hello-world', GITHUB_TOKEN: 'ghp_0000000000' };
  const values = memoryValues();
  const played = await playCrawl(api, { answer, env, baseDir: folder, values });
  expect(left).toEqual([]);
  expect(played.failures).toEqual([]);
  expect(played.limited).toBe(1);
  expect(played.records.issues!.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5]);
  expect(played.records.comments!.map(({ _issues_number }) => _issues_number)).toEqual([1, 1, 4, 4]);
  expect(values.all.get('increment/issues')).toEqual({ value: '2024-05-05T10:00:00Z' });
  expect(played.stored).not.toContain('ghp_');
});

test('GitHub: pages by cursor, where the Link header names the next page and no last one', async () => {
  const { api, folder } = readExample('api-github-issues/github-issues');
  const cursors = [null, 'Y3Vyc29yOnYyOpLPAAABmA==', 'Y3Vyc29yOnYyOpLPAAABmB=='];
  const asked: (string | null)[] = [];
  function answer({ url }: SentRequest): Answer {
    const { pathname, searchParams } = new URL(url);
    if (pathname.endsWith('/comments')) return { body: [] };
    const at = cursors.indexOf(searchParams.get('after'));
    asked.push(cursors[at]!);
    const number = at + 1;
    const next = cursors[at + 1];
    const to = (params: string, rel: string) =>
      `<https://api.github.com/repositories/1296269/issues?per_page=100&state=all&${params}>; rel="${rel}"`;
    const previous = at > 0 ? [to('page=1&before=Y3Vyc29y', 'prev')] : [];
    const links = [
      ...(next === undefined ? [] : [to(`after=${encodeURIComponent(next!)}&page=2`, 'next')]),
      ...previous,
    ];
    return {
      headers: { link: links.join(', ') },
      body: [{ id: number, number, updated_at: `2024-05-0${number}T10:00:00Z` }],
    };
  }
  const env = { GITHUB_REPOSITORY: 'octocat/hello-world', GITHUB_TOKEN: 'ghp_0000000000' };
  const played = await playCrawl(api, { answer, env, baseDir: folder, values: memoryValues() });
  expect(played.failures).toEqual([]);
  expect(asked).toEqual(cursors);
  expect(played.records.issues!.map(({ number }) => number)).toEqual([1, 2, 3]);
});

test('Shopify: products with their variants by GraphQL, a throttled query asked again', async () => {
  const { api, folder } = readExample('api-shopify/shopify-products');
  const { answer, left } = recorded('shopify-products');
  const env = { SHOP: 'my-shop', SHOPIFY_TOKEN: 'shpat_0000000000' };
  const played = await playCrawl(api, { answer, env, baseDir: folder });
  expect(left).toEqual([]);
  expect(played).toMatchObject({ failures: [], limited: 1 });
  expect(played.records.products!.map(({ title }) => title)).toEqual(['Shirt 1', 'Shirt 2', 'Shirt 3']);
  expect(played.stored).not.toContain('shpat_');
});

test('Opendatasoft: every record of a dataset, one that lacks coordinates set apart', async () => {
  const { api, folder } = readExample('api-open-data/open-data-records');
  const { answer, left } = recorded('open-data-records');
  const env = { PORTAL: 'https://public.opendatasoft.com', DATASET: 'geonames-all-cities-with-a-population-1000' };
  const played = await playCrawl(api, { answer, env, baseDir: folder });
  expect(left).toEqual([]);
  expect(played.failures).toEqual([]);
  expect(played.records.records).toHaveLength(211);
  expect(played.invalid).toMatchObject([{ issues: ['coordinates: must be object'], record: { geoname_id: '100009' } }]);
  expect(played.finished[0]!.completeness).toMatchObject({ declared: 212, fetched: 212, duplicates: 0, gaps: 0 });
});
