import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { pages, ROOT } from './support/blocks.ts';

type Link = { page: string; target: string };

/** What a page leads to within the project; addresses of the web are not asked for. */
function linksOf(page: string): Link[] {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/```[\s\S]*?```|`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => ({ page, target }))
    .filter(({ target }) => !/^[a-z]+:/.test(target));
}

/** As GitHub makes them of headings. */
function anchorsOf(path: string): string[] {
  const headings = readFileSync(join(ROOT, path), 'utf8').matchAll(/^#{1,6} (.+)$/gm);
  return [...headings].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every link of README and docs leads to a file that is there, and to a heading it has', () => {
  const links = pages().flatMap(linksOf);
  expect(links.length).toBeGreaterThan(50);
  const broken = links.filter(({ page, target }) => {
    const [file = '', anchor] = target.split('#');
    const path = file === '' ? page : normalize(join(dirname(page), file));
    if (!existsSync(join(ROOT, path))) return true;
    if (anchor === undefined || statSync(join(ROOT, path)).isDirectory()) return false;
    return path.endsWith('.md') && !anchorsOf(path).includes(anchor);
  });
  expect(broken.map(({ page, target }) => `${page}: ${target}`)).toEqual([]);
});

test('README leads to every page of the documentation', () => {
  const linked = linksOf('README.md').map(({ target }) => target);
  expect(pages().filter((page) => page.startsWith('docs/') && !linked.includes(page))).toEqual([]);
});
