import { describe, expect, test } from 'vitest';
import { start } from './started.ts';

const statusOf = async (url: string, headers: Record<string, string>) => {
  const response = await fetch(url, { headers });
  return { status: response.status, length: (await response.text()).length };
};

describe('a conditional request', () => {
  test('is answered 304 without a body while nothing has changed, and 200 afterwards', async () => {
    const api = await start();
    const url = `${api.url}/products/5`;
    const { headers } = await fetch(url);
    const etag = headers.get('etag') as string;
    const modified = headers.get('last-modified') as string;
    const unchanged = { status: 304, length: 0 };
    expect(await statusOf(url, { 'if-none-match': etag })).toEqual(unchanged);
    expect(await statusOf(url, { 'if-none-match': `"other", W/${etag}` })).toEqual(unchanged);
    expect(await statusOf(url, { 'if-none-match': '*' })).toEqual(unchanged);
    expect(await statusOf(url, { 'if-modified-since': modified })).toEqual(unchanged);

    api.touch([5]);
    expect((await statusOf(url, { 'if-none-match': etag })).status).toBe(200);
    expect((await statusOf(url, { 'if-modified-since': modified })).status).toBe(200);
  });

  test('by ETag leaves the date out of account', async () => {
    const api = await start();
    const headers = { 'if-none-match': '"other"', 'if-modified-since': new Date().toUTCString() };
    expect((await statusOf(`${api.url}/products/5`, headers)).status).toBe(200);
  });

  test('works for lists too, which have an ETag but no date', async () => {
    const { url } = await start();
    const { headers } = await fetch(`${url}/products`);
    expect(headers.has('last-modified')).toBe(false);
    expect((await statusOf(`${url}/products`, { 'if-none-match': headers.get('etag') as string })).status).toBe(304);
    expect((await statusOf(`${url}/products`, { 'if-modified-since': new Date().toUTCString() })).status).toBe(200);
  });
});

describe('numbers', () => {
  test('beyond 2^53 are sent bare, with all their digits', async () => {
    const { url } = await start();
    expect(await (await fetch(`${url}/products/4`)).text()).toContain('"ledgerId":9007199254741001,');
  });
});
