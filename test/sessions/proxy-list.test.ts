import { describe, expect, test } from 'vitest';
import type { UsageError } from '../../src/core/errors.ts';
import { parseProxyList } from '../../src/sessions/proxy-list.ts';

const urlsOf = (...entries: string[]) => parseProxyList(entries).map((proxy) => proxy.url);
const namesOf = (...entries: string[]) => parseProxyList(entries).map((proxy) => proxy.name);

describe('a list of proxies', () => {
  test('takes URLs, host:port, and host:port:user:password as sellers write it', () => {
    expect(urlsOf('http://a:1', 'socks5://u:p@b:2', 'c:3', 'd:4:us er:p@ss:word')).toEqual([
      'http://a:1/',
      'socks5://u:p@b:2',
      'http://c:3/',
      'http://us%20er:p%40ss%3Aword@d:4/',
    ]);
  });

  test('takes a whole file of them, with comments and empty lines', () => {
    expect(urlsOf('# from the seller\r\nhttp://a:1\r\n\r\n  b:2  \n', 'c:3')).toEqual([
      'http://a:1/',
      'http://b:2/',
      'http://c:3/',
    ]);
  });

  test('names them without their passwords, and apart where one gateway has several users', () => {
    expect(namesOf('http://u1:p1@gate:8000', 'http://u2:p2@gate:8000', 'http://[::1]:9')).toEqual([
      'gate:8000',
      'gate:8000~2',
      '[::1]:9',
    ]);
  });

  test('names every line it cannot read, and not what stands in it', () => {
    let problems: readonly string[] = [];
    try {
      parseProxyList(['http://ok:1\nftp://u:hunter2@x:1\nnonsense hunter2']);
    } catch (error) {
      problems = (error as UsageError).problems;
    }
    expect(problems).toEqual([
      'sessionPool.proxyUrls: line 2 is no http, https or socks URL',
      'sessionPool.proxyUrls: line 3 is no http, https or socks URL',
    ]);
  });
});
