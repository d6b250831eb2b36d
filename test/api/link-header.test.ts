import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { linkTarget, parseLinkHeader } from '../../src/api/link-header.ts';

describe('a Link header', () => {
  test.each([
    ['<https://a.test/?page=2>; rel="next"', 'https://a.test/?page=2'],
    ['<https://a.test/?page=2>; rel=next', 'https://a.test/?page=2'],
    ['<?page=2> ; REL = "NEXT"', '?page=2'],
    ['</a?q=1,2;3>; rel="prev", </b>; rel="next"', '/b'],
    ['</a>; rel="prev next last"', '/a'],
    ['</a>; title="a, <b>; rel=\\"next\\""; rel=prev, </c>;rel=next', '/c'],
    ['</first>; rel=prev; rel=next, </second>; rel=next', '/second'],
    ['broken, </b>; rel=next', '/b'],
    ['</a>; rel="prev, </b>; rel="next"', undefined],
    ['</a>;;; rel=next', '/a'],
    ['</a>; rel', undefined],
    ['', undefined],
    ['<', undefined],
    ['</a', undefined],
  ])('%s leads to %s', (header, next) => {
    expect(linkTarget(parseLinkHeader(header), 'next')).toBe(next);
  });

  test('keeps parameters unquoted, decodes title*, and the first of a name counts', () => {
    const [link] = parseLinkHeader(
      `</a>; rel="start"; title="say \\"hi\\""; title*=UTF-8'de'n%c3%a4chstes%20Kapitel; title=no`,
    );
    expect(link).toEqual({
      target: '/a',
      rel: ['start'],
      params: { rel: 'start', title: 'say "hi"', 'title*': 'nächstes Kapitel' },
    });
  });

  test('keeps extension relations, which are URLs, as they are written', () => {
    expect(parseLinkHeader('</a>; rel="https://Example.test/Rel next"')[0]!.rel).toEqual([
      'https://Example.test/Rel',
      'next',
    ]);
  });

  test('of any text is parsed without throwing or hanging', () => {
    const piece = fc.constantFrom('<', '>', ';', ',', '"', '\\', '=', ' ', 'rel', 'next', '/a', "'", '*', '%e4');
    fc.assert(fc.property(fc.array(piece), (pieces) => Array.isArray(parseLinkHeader(pieces.join('')))));
  });

  test('written by the rules is read back', () => {
    const target = fc.webUrl({ withQueryParameters: true }).filter((url) => !url.includes('>'));
    const title = fc.string({ unit: 'grapheme-ascii' });
    fc.assert(
      fc.property(fc.array(fc.tuple(target, title), { minLength: 1 }), (links) => {
        const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
        const header = links.map(([url, text]) => `<${url}>; title=${quoted(text)}; rel="item"`).join(', ');
        const read = parseLinkHeader(header).map((link) => [link.target, link.params.title, link.rel]);
        expect(read).toEqual(links.map(([url, text]) => [url, text, ['item']]));
      }),
    );
  });
});
