import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generatedFiles } from '../../scripts/docs/generated-files.ts';

const files = [...generatedFiles()];

test.each(files)('%s is what node scripts/generate-docs.ts writes', (path, text) => {
  expect(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')).toBe(text);
});

test('the JSON Schema refuses unknown keys and knows host settings with their ranges', () => {
  const schema = JSON.parse(generatedFiles().get('docs/millrace.schema.json')!);
  expect(schema.additionalProperties).toBe(false);
  const host = schema.properties.hosts.additionalProperties;
  expect(host.additionalProperties).toBe(false);
  expect(host.properties.maxConcurrency).toMatchObject({ type: 'integer', minimum: 1, maximum: 10_000 });
  expect(schema.required).toBeUndefined();
});
