import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { startPracticeApi } from '../../src/practice-api/start-practice-api.ts';
import { exampleNames, ROOT, readExample } from './example.ts';
import { allProducts, ITEMS, PRACTICE_EXAMPLES } from './expectations.ts';
import { playCrawl } from './play-crawl.ts';

const CALM = { port: 0, items: ITEMS, latencyMs: 0, errorRate: 0, rateLimit: null, seed: 1 };

async function refreshToken(url: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'practice-client',
    client_secret: 'practice-secret',
  });
  const answer = (await (await fetch(`${url}/oauth/token`, { method: 'POST', body })).json()) as {
    refresh_token: string;
  };
  return answer.refresh_token;
}

test.each(Object.entries(PRACTICE_EXAMPLES))(
  '%s.yaml fetches from the practice API what it holds',
  async (name, expectation) => {
    const practice = await startPracticeApi({ ...CALM, ...expectation.practice });
    try {
      const { api, folder } = readExample(name);
      const secrets = { ...expectation.env, PRACTICE_REFRESH_TOKEN: await refreshToken(practice.url) };
      const env = { ...secrets, PRACTICE_API: practice.url };
      const played = await playCrawl(api, { env, baseDir: folder, maxRetries: 8 });
      (expectation.check ?? allProducts)(played, ITEMS);
      for (const secret of [...Object.values(secrets), 'let-me-in']) expect(played.stored).not.toContain(secret);
    } finally {
      await practice.close();
    }
  },
);

test('every example is run', () => {
  const publicApis = [
    'api-github-issues/github-issues',
    'api-open-data/ckan-datastore',
    'api-open-data/open-data-records',
    'api-open-data/socrata-dataset',
    'api-shopify/shopify-products',
  ];
  expect([...Object.keys(PRACTICE_EXAMPLES), ...publicApis].toSorted()).toEqual(exampleNames());
});

test('every example is accepted by the JSON Schema that it names for editors', () => {
  const schemaPath = join(ROOT, 'docs/millrace.schema.json');
  const validate = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(schemaPath, 'utf8')));
  for (const name of exampleNames()) {
    const path = join(ROOT, 'examples', `${name}.yaml`);
    const text = readFileSync(path, 'utf8');
    const [, named = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
    expect(join(dirname(path), named)).toBe(schemaPath);
    expect([name, validate(parse(text)), validate.errors]).toEqual([name, true, null]);
  }
});
