import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { EnvironmentError, UsageError } from '../../../src/core/errors.ts';
import { uniqueKeyOf } from '../../../src/core/unique-key.ts';
import { collect, fileSpec, temporaryFile } from './collect.ts';

describe('a text file', () => {
  test('yields a request a line, without blank lines, comments and white space, and reports the malformed', async () => {
    const text = [
      '\uFEFFhttps://api.example.com/1',
      '',
      '  # a comment',
      ' HTTPS://API.example.com:443/a/../2#part \r',
      'api.example.com/3',
      'https://api.example.com/a b',
      'ftp://api.example.com/4',
      'http://exa mple.com/',
      'https://',
      '\u0007bell',
      'http://[::1/',
    ].join('\n');
    const { urls, malformed, batches } = await collect(fileSpec('urls.txt', text));
    expect(urls).toEqual(['1 https://api.example.com/1', '4 HTTPS://API.example.com:443/a/../2#part']);
    expect(malformed).toEqual([
      '5 api.example.com/3 is not an absolute URL: write https://api.example.com/3',
      '6 https://api.example.com/a b has white space in it: one URL a line, and a space in it as %20',
      '7 ftp://api.example.com/4 is not an http or https URL',
      '8 http://exa mple.com/ has white space in it: one URL a line, and a space in it as %20',
      '9 https:// is not a valid URL',
      '10 ?bell is not an absolute URL',
      '11 http://[::1/ is not a valid URL',
    ]);
    expect(batches).toMatchObject([{ lines: 9, malformed: 7, lastLine: 11 }]);
  });

  test('keeps the URL as it was written, with a normalised key and host', async () => {
    const { batches } = await collect(fileSpec('urls.txt', 'HTTPS://API.example.com:443/a/../2#part\nhttp://a.b/?x=1'));
    expect(batches[0]?.items.map(({ request }) => request)).toEqual([
      {
        uniqueKey: 'https://api.example.com/2',
        url: 'HTTPS://API.example.com:443/a/../2#part',
        host: 'api.example.com',
        method: 'GET',
        label: null,
        data: null,
      },
      { uniqueKey: 'http://a.b/?x=1', url: 'http://a.b/?x=1', host: 'a.b', method: 'GET', label: null, data: null },
    ]);
  });

  test('gives every line the method and body of the input', async () => {
    const defaults = { method: 'post', body: '{"a":1}' };
    const { batches } = await collect(fileSpec('urls.txt', 'http://a.b/x'), { defaults });
    expect(batches[0]?.items[0]?.request).toEqual({
      uniqueKey: uniqueKeyOf({ url: 'http://a.b/x', method: 'POST', payload: '{"a":1}' }),
      url: 'http://a.b/x',
      host: 'a.b',
      method: 'POST',
      label: null,
      data: '{"payload":"{\\"a\\":1}"}',
    });
  });

  test('comes in batches of 1,000 that say how far they go, and goes on after any of them', async () => {
    const line = (number: number): string => (number % 100 === 0 ? '# comment' : `https://a.b/${number}`);
    const text = Array.from({ length: 2_500 }, (_, index) => line(index + 1)).join('\n');
    const spec = fileSpec('urls.txt', text);
    const whole = await collect(spec);
    expect(whole.batches.map(({ items, lines, lastLine }) => [items.length, lines, lastLine])).toEqual([
      [1_000, 1_000, 1_010],
      [1_000, 1_000, 2_020],
      [475, 475, 2_500],
    ]);
    const rest = await collect(spec, { afterLine: 1_010 });
    expect(rest.urls).toEqual(whole.urls.slice(1_000));
    expect((await collect(spec, { afterLine: 2_500 })).batches).toEqual([]);
  });
});

describe('gzip', () => {
  test('is unpacked whatever the name says', async () => {
    const packed = gzipSync('https://a.b/1\nhttps://a.b/2\n');
    expect((await collect(fileSpec('urls.txt.gz', packed))).urls).toEqual(['1 https://a.b/1', '2 https://a.b/2']);
    expect((await collect(fileSpec('urls.txt', packed))).urls).toEqual(['1 https://a.b/1', '2 https://a.b/2']);
    expect((await collect(fileSpec('urls.txt.gz', 'https://a.b/1'))).urls).toEqual(['1 https://a.b/1']);
  });

  test('that is cut off is an error of the environment with the name of the file', async () => {
    const packed = gzipSync('https://a.b/1\n'.repeat(1_000));
    const spec = fileSpec('urls.txt.gz', packed.subarray(0, packed.length - 20));
    await expect(collect(spec)).rejects.toThrow(EnvironmentError);
    await expect(collect(spec)).rejects.toThrow(/^urls\.txt\.gz cannot be read to its end: /);
  });
});

describe('a CSV file', () => {
  test('has its URLs in the column that is named', async () => {
    const text =
      'id;link;name\n1; https://a.b/1 ;"x;\ny"\n\n2;https://a.b/2;z\n3\n4;;\n"5";"https://a.b/5";"a ""b"""\n';
    const { urls, malformed, batches } = await collect(fileSpec('urls.csv', text, 'LINK'));
    expect(urls).toEqual(['2 https://a.b/1', '5 https://a.b/2', '8 https://a.b/5']);
    expect(malformed).toEqual(['6 it has 1 column, and link would be column 2', '7 its link is empty']);
    expect(batches).toMatchObject([{ lines: 5, malformed: 2, lastLine: 8 }]);
  });

  test.each([
    ['the column called url', 'id,URL\n1,https://a.b/1', ['2 https://a.b/1']],
    ['the only column', 'website\nhttps://a.b/1', ['2 https://a.b/1']],
    [
      'the column that has a URL in the first line',
      '1,https://a.b/1\n2,https://a.b/2',
      ['1 https://a.b/1', '2 https://a.b/2'],
    ],
  ])('without a name it is %s', async (_, text, expected) => {
    expect((await collect(fileSpec('urls.csv', text))).urls).toEqual(expected);
  });

  test('without the column that is named, or none that can be meant, is refused with those there are', async () => {
    const named = collect(fileSpec('urls.csv', 'id,link,name\n', 'lnk'));
    await expect(named).rejects.toThrow(
      'urls.csv has no column "lnk". Did you mean link? Its columns: id, link, name.',
    );
    const unnamed = collect(fileSpec('urls.csv', 'id,link\n1,https://a.b/'));
    await expect(unnamed).rejects.toThrow(UsageError);
    await expect(unnamed).rejects.toThrow(
      'urls.csv: say which column has the URL, by --url-column NAME. Its columns: id, link.',
    );
  });

  test('loses only the line of a quote that is never closed', async () => {
    const rows = Array.from({ length: 3_000 }, (_, index) => `${index},https://a.b/${index}`);
    rows[500] = '500,"https://a.b/500';
    const { urls, malformed } = await collect(fileSpec('urls.csv', `id,url\n${rows.join('\n')}`));
    expect(malformed).toEqual(['502 a quote that is opened here is not closed']);
    expect(urls).toHaveLength(2_999);
    expect(urls).not.toContain('502 https://a.b/500');
  });

  test('goes on after a batch, though a record has several lines', async () => {
    const rows = Array.from({ length: 1_500 }, (_, index) => `"line\nbreak",https://a.b/${index}`);
    const spec = fileSpec('urls.csv', `name,url\n${rows.join('\n')}`);
    const whole = await collect(spec);
    const lastLine = whole.batches[0]!.lastLine;
    expect(lastLine).toBe(2_001);
    expect((await collect(spec, { afterLine: lastLine })).urls).toEqual(whole.urls.slice(1_000));
  });
});

describe('a JSON lines file', () => {
  test('has URLs as text or as objects, each malformed one with its reason', async () => {
    const text = [
      '"https://a.b/1"',
      '{"url": "https://a.b/2", "method": "POST", "payload": "x", "headers": {"A": "b"}, "label": "l", "userData": {"n": 1}}',
      '{"url": "https://a.b/3", "methd": "POST"}',
      '{"url": 5}',
      '{"url"',
      '[1]',
      '{"url": "https://a.b/4", "payload": "x"}',
      '',
    ].join('\n');
    const { urls, malformed, batches } = await collect(fileSpec('urls.jsonl', text));
    expect(urls).toEqual(['1 https://a.b/1', '2 https://a.b/2']);
    expect(batches[0]?.items[1]?.request).toMatchObject({
      uniqueKey: uniqueKeyOf({ url: 'https://a.b/2', method: 'POST', payload: 'x' }),
      method: 'POST',
      label: 'l',
      data: JSON.stringify({ payload: 'x', headers: { A: 'b' }, userData: { n: 1 } }),
    });
    expect(malformed).toEqual([
      '3 methd: unknown key. Did you mean method?',
      '4 url: must be text, not 5. Put it in quotes.',
      expect.stringMatching(/^5 it is not JSON: /),
      '6 it must be a URL in quotes, or an object with a url',
      '7 a GET request carries no payload: add a method, POST for example',
    ]);
  });

  test('of any other objects has its URLs in the key that is named', async () => {
    const text = '{"id": 1, "link": "https://a.b/1"}\n{"id": 2}';
    const { urls, malformed } = await collect(fileSpec('rows.ndjson', text, 'link'));
    expect(urls).toEqual(['1 https://a.b/1']);
    expect(malformed).toEqual(['2 its key link is no text']);
  });
});

describe('standard input', () => {
  const read = (text: string | Buffer, urlColumn: string | null = null) =>
    collect({ kind: 'stdin', format: 'auto', urlColumn }, { stdin: Readable.from([Buffer.from(text)]) });

  test.each([
    ['text', '\n# c\nhttps://a.b/1', null, ['3 https://a.b/1']],
    ['JSON lines', '{"url": "https://a.b/1"}', null, ['1 https://a.b/1']],
    ['JSON lines of texts', '"https://a.b/1"', null, ['1 https://a.b/1']],
    ['a CSV with a column url', 'id,url\n1,https://a.b/1', null, ['2 https://a.b/1']],
    ['a CSV whose column is named', 'id,link\n1,https://a.b/1', 'link', ['2 https://a.b/1']],
  ])('is told to be %s by its first line', async (_, text, urlColumn, expected) => {
    expect((await read(text, urlColumn)).urls).toEqual(expected);
  });

  test('may be gzip, and may be empty', async () => {
    expect((await read(gzipSync('https://a.b/1'))).urls).toEqual(['1 https://a.b/1']);
    expect(await read('')).toMatchObject({ urls: [], malformed: [] });
  });

  test('that never ends is left with the reason of the signal', async () => {
    const controller = new AbortController();
    const stdin = new Readable({ read() {} });
    const reading = collect({ kind: 'stdin', format: 'auto', urlColumn: null }, { stdin, signal: controller.signal });
    controller.abort(new Error('stop'));
    await expect(reading).rejects.toThrow('stop');
    expect(stdin.destroyed).toBe(true);
  });
});

describe('requests written out', () => {
  test('are counted from one, reported and resumed like lines', async () => {
    const requests = [{ url: 'https://a.b/1' }, { url: 'x' }, { url: 'https://a.b/3', method: 'put' }];
    const spec = { kind: 'requests' as const, name: 'the command line', requests };
    expect(await collect(spec)).toMatchObject({
      urls: ['1 https://a.b/1', '3 https://a.b/3'],
      malformed: ['2 x is not an absolute URL'],
      batches: [{ lines: 3, malformed: 1, lastLine: 3 }],
    });
    expect((await collect(spec, { afterLine: 1 })).urls).toEqual(['3 https://a.b/3']);
  });
});

test('a folder is an error of the environment, should it be one by the time it is read', async () => {
  const path = temporaryFile('x', '').replace(/\/x$/, '');
  const spec = { kind: 'file' as const, path, name: 'folder', format: 'text' as const, urlColumn: null };
  await expect(collect(spec)).rejects.toThrow(/^folder cannot be read to its end: EISDIR/);
});
