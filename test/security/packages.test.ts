import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

type Manifest = { scripts?: Record<string, string> };
type Locked = { integrity?: string; resolved?: string; link?: boolean; hasInstallScript?: boolean };

const read = <T>(path: string): T => JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')) as T;
const AT_INSTALL = ['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare'];

test('nothing of ours runs when the package is installed', () => {
  const { scripts = {} } = read<Manifest>('package.json');
  expect(AT_INSTALL.filter((name) => name in scripts)).toEqual([]);
});

describe.each(['package-lock.json', 'test/tools/package-lock.json'])('%s', (path) => {
  const packages = Object.entries(read<{ packages: Record<string, Locked> }>(path).packages).filter(
    ([name, { link }]) => name !== '' && !link,
  );

  test('has a checksum of every package, and no address it must come from', () => {
    expect(packages.length).toBeGreaterThan(10);
    expect(packages.filter(([, { integrity }]) => !/^sha512-/.test(integrity ?? '')).map(([name]) => name)).toEqual([]);
    expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([name]) => name)).toEqual([]);
  });
});

test('no package that a crawl needs runs anything when it is installed', () => {
  const { packages } = read<{ packages: Record<string, Locked> }>('package-lock.json');
  const running = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(running.map(([name]) => name)).toEqual([]);
});
