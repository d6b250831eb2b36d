import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  authSchema,
  paginatorSchema,
  RESPONSE_ACTIONS,
  resourceSchema,
  SCHEMA_CONTRACTS,
} from '../../src/config/api-schema.ts';
import { type Example, exampleNames, readExample } from './example.ts';
import { PRACTICE_EXAMPLES } from './expectations.ts';

/** One thing the schema offers. */
type Feature = { kind: string; name: string; isIn: (example: Example) => boolean };

const typesOf = (schema: z.ZodType): string[] => {
  const { oneOf } = z.toJSONSchema(schema, { io: 'input' }) as unknown as {
    oneOf: { properties: { type: { const: string } } }[];
  };
  return oneOf.map(({ properties }) => properties.type.const);
};

function paginatorsIn({ api }: Example): (string | undefined)[] {
  const own = api.resources.map(({ endpoint }) => endpoint.paginator?.type);
  const isAuto = api.paginator === undefined && own.includes(undefined);
  return [api.paginator?.type, ...own, ...(isAuto ? ['auto'] : [])];
}

const endpoints = ({ api }: Example) => api.resources.map(({ endpoint }) => endpoint);

const FEATURES: Feature[] = [
  ...typesOf(paginatorSchema).map((name) => ({
    kind: 'paginator',
    name,
    isIn: (example: Example) => paginatorsIn(example).includes(name),
  })),
  ...typesOf(authSchema).map((name) => ({
    kind: 'auth',
    name,
    isIn: ({ api }: Example) => api.auth?.type === name,
  })),
  ...['header', 'query', 'cookie'].map((name) => ({
    kind: 'auth: apiKey location',
    name,
    isIn: ({ api }: Example) => api.auth?.type === 'apiKey' && api.auth.location === name,
  })),
  ...RESPONSE_ACTIONS.map((name) => ({
    kind: 'responseAction',
    name,
    isIn: (example: Example) =>
      endpoints(example).some(({ responseActions = [] }) => responseActions.some(({ action }) => action === name)),
  })),
  ...SCHEMA_CONTRACTS.map((name) => ({
    kind: 'schemaContract',
    name,
    isIn: ({ api }: Example) => api.resources.some(({ schemaContract }) => schemaContract === name),
  })),
  ...resourceSchema.shape.session.unwrap().options.map((name) => ({
    kind: 'session',
    name,
    isIn: ({ api }: Example) => [api.resourceDefaults, ...api.resources].some((given) => given?.session === name),
  })),
];

/** Where each kind is tested, and how a test there shows that it is this one. */
const TESTED: Record<string, { file: string; shows: (name: string) => string[] }> = {
  paginator: { file: 'paginators.test.ts', shows: (name) => [`type: '${name}'`] },
  auth: { file: 'auth.test.ts', shows: (name) => [`type: '${name}'`] },
  'auth: apiKey location': { file: 'auth.test.ts', shows: (name) => [`location: '${name}'`] },
  responseAction: { file: 'response-actions.test.ts', shows: (name) => [`action: '${name}'`, `test('${name}: `] },
  schemaContract: { file: 'contract.test.ts', shows: (name) => [`test('${name} `] },
  session: { file: '../sessions/sticky-crawl.test.ts', shows: (name) => [`session: '${name}'`] },
};

/** The test files that cover it: the unit test, if all that shows it is in it. The example is run by one more. */
function testsOf({ kind, name }: Feature): string[] {
  const { file, shows } = TESTED[kind]!;
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  return shows(name).every((sign) => text.includes(sign)) ? [join('test/api', file)] : [];
}

function rows(): { feature: Feature; example: string | undefined; tests: string[] }[] {
  const examples = exampleNames().map(readExample);
  // The plainest example is the one that is named after it; any other serves as well.
  return FEATURES.map((feature) => ({
    feature,
    example: examples.filter(feature.isIn).toSorted((a, b) => nearness(b, feature) - nearness(a, feature))[0]?.name,
    tests: testsOf(feature),
  }));
}

// examples.test.ts checks that these two run every example.
function runBy(example: string | undefined): string[] {
  if (example === undefined) return [];
  return [Object.hasOwn(PRACTICE_EXAMPLES, example) ? 'test/api/examples.test.ts' : 'test/api/public-apis.test.ts'];
}

const letters = (text: string): string => text.replaceAll(/[^a-z0-9]/gi, '').toLowerCase();

function nearness({ name }: Example, feature: Feature): number {
  return letters(name).endsWith(letters(feature.name)) ? 1 : 0;
}

test('every paginator, auth form, responseAction, contract and session has an example and a test', () => {
  const gaps = rows().filter(({ example, tests }) => example === undefined || tests.length === 0);
  expect(gaps.map(({ feature }) => `${feature.kind} ${feature.name}`)).toEqual([]);
});

test('the table of them in docs/api-coverage.md is up to date (vitest -u writes it)', async () => {
  const lines = rows().map(({ feature, example, tests }) => {
    const names = [...tests, ...runBy(example)]
      .map((file) => `[${file.replace(/^test\/(api\/)?/, '')}](../${file})`)
      .join(', ');
    return `| ${feature.kind} | \`${feature.name}\` | [${example}](../examples/${example}.yaml) | ${names} |`;
  });
  const table = [
    '# What a declared API can do, and where it is shown',
    '',
    'Made from the schema by test/api/coverage.test.ts, which fails on a gap. Every example is run by the tests.',
    '',
    '| kind | name | example | tests |',
    '|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
  await expect(table).toMatchFileSnapshot('../../docs/api-coverage.md');
});
