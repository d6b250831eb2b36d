import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect, test } from 'vitest';
import { NOT_FOR_ACTORS } from '../../scripts/docs/actor-input-schema.ts';
import { readActorInput } from '../../src/actor/actor-input.ts';
import { actorJob } from '../../src/actor/actor-job.ts';
import { inputSchema } from '../../src/config/input-schema.ts';

type Property = { type: string; prefill?: unknown; default?: unknown; isSecret?: boolean; title: string };
type Schema = { properties: Record<string, Property> };
type Validator = ((value: unknown) => boolean) & { errors: unknown };

const FOLDER = fileURLToPath(new URL('../../.actor/', import.meta.url));
const requireTool = createRequire(new URL('../tools/package.json', import.meta.url));
const apify = requireTool('@apify/input_schema') as {
  validateInputSchema(ajv: unknown, schema: unknown): void;
  validateInputUsingValidator(validator: Validator, schema: unknown, input: unknown): unknown[];
};
const schemas = createRequire(requireTool.resolve('@apify/input_schema'))('@apify/json_schemas') as Record<
  string,
  () => Validator
>;

const readJson = (name: string): unknown => JSON.parse(readFileSync(join(FOLDER, name), 'utf8'));
const schema = readJson('input_schema.json') as Schema;
const newAjv = () => new Ajv2019({ strict: false, allErrors: true });

/** What the platform makes of a form that nobody has filled in. */
function prefilled(): Record<string, unknown> {
  const entries = Object.entries(schema.properties).map(([key, { prefill, default: value }]) => [
    key,
    prefill ?? value,
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

test("Apify's own validator takes the input schema", () => {
  expect(() => apify.validateInputSchema(newAjv(), schema)).not.toThrow();
});

test('the prefilled form is an input, to Apify and to us', () => {
  const validator = newAjv().compile(schema) as unknown as Validator;
  expect(apify.validateInputUsingValidator(validator, schema, prefilled())).toEqual([]);
  const { document } = readActorInput(prefilled());
  const job = actorJob(document, { storageDir: '/storage', lists: [], env: {} });
  expect(job.inputs).toMatchObject([
    { kind: 'requests', requests: [{ url: 'https://jsonplaceholder.typicode.com/posts' }] },
  ]);
  expect(job.input).toMatchObject({ select: '$[*]', blockPrivateAddresses: true, queue: 'auto', failOnErrors: false });
});

test('what the platform fills in for keys left out is what we fill in', () => {
  const ours = inputSchema.parse({}) as Record<string, unknown>;
  const different = Object.entries(schema.properties).filter(
    ([key, { default: value }]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(ours[key]),
  );
  expect(different.map(([key]) => key)).toEqual(['blockPrivateAddresses']);
});

test('every key of the input document is in the form, or meant to be left out', () => {
  const keys = Object.keys(inputSchema.shape).filter((key) => !NOT_FOR_ACTORS.includes(key));
  expect(Object.keys(schema.properties).sort()).toEqual([...keys, 'secrets'].sort());
});

test('what may be a credential is stored encrypted', () => {
  const secret = Object.entries(schema.properties).filter(([, { isSecret }]) => isSecret);
  expect(secret.map(([key]) => key)).toEqual(['headers', 'secrets']);
});

test.each([
  ['actor.json', 'getActorSchemaValidator'],
  ['dataset_schema.json', 'getDatasetSchemaValidator'],
  ['output_schema.json', 'getOutputSchemaValidator'],
  ['key_value_store_schema.json', 'getKeyValueStoreSchemaValidator'],
])("%s is valid by Apify's schema", (name, validatorName) => {
  const validate = schemas[validatorName]!();
  expect(validate(readJson(name)), JSON.stringify(validate.errors)).toBe(true);
});

test('the dataset takes any record: the platform refuses those that do not fit its fields', () => {
  expect(readJson('dataset_schema.json')).toMatchObject({ fields: {} });
});

test('every file that actor.json names is there', () => {
  const { storages, ...definition } = readJson('actor.json') as Record<string, unknown> & { storages: object };
  const named = [...Object.values(definition), ...Object.values(storages)].filter(
    (value): value is string => typeof value === 'string' && /^\.{1,2}\/\w/.test(value),
  );
  expect(named).toHaveLength(8);
  expect(named.filter((path) => !existsSync(join(FOLDER, path)))).toEqual([]);
});
