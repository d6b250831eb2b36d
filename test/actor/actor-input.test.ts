import { expect, test } from 'vitest';
import { readActorInput } from '../../src/actor/actor-input.ts';
import { actorJob } from '../../src/actor/actor-job.ts';
import { UsageError } from '../../src/core/errors.ts';

const place = { storageDir: '/storage', lists: [], env: {} };

test("start URLs of Apify's editor become those of the input document, linked lists are named apart", () => {
  const startUrls = [
    { url: 'https://a.b/1', method: 'GET', id: 'x', uniqueKey: 'y' },
    'https://a.b/2',
    { requestsFromUrl: 'https://a.b/list.txt' },
  ];
  const { document, listUrls } = readActorInput({ startUrls });
  expect(document.startUrls).toEqual([{ url: 'https://a.b/1', method: 'GET' }, 'https://a.b/2']);
  expect(listUrls).toEqual(['https://a.b/list.txt']);
});

test('private addresses are refused, unless the input allows them', () => {
  expect(readActorInput({}).document).toEqual({ blockPrivateAddresses: true });
  expect(readActorInput({ blockPrivateAddresses: false }).document).toEqual({ blockPrivateAddresses: false });
});

test('secrets are taken out of the document', () => {
  const input = readActorInput({ api: {}, secrets: { TOKEN: 't' } });
  expect(input.secrets).toEqual({ TOKEN: 't' });
  expect(input.document).toEqual({ blockPrivateAddresses: true, api: {} });
});

test.each([[null], [undefined], ['text'], [[1]]])('%j is no input', (raw) => {
  expect(() => readActorInput(raw)).toThrow('There is no input: give startUrls, api, or routes: true.');
});

test('secrets that are no texts are refused', () => {
  expect(() => readActorInput({ secrets: { PORT: 1 } })).toThrow(UsageError);
  expect(() => readActorInput({ secrets: 'TOKEN=1' })).toThrow('secrets: must be an object of texts');
});

test('the job has every problem of the input in its error', () => {
  const { document } = readActorInput({ startUrls: ['https://a.b/'], maxConcurency: 1, httpClient: 'curl' });
  expect(() => actorJob(document, place)).toThrow(
    'input: httpClient: must be undici or got-scraping, not "curl".\n' +
      'input: maxConcurency: unknown key. Did you mean maxConcurrency?',
  );
});

test('an input that names nothing to crawl is refused, one with a list or routes is not', () => {
  const { document } = readActorInput({});
  expect(() => actorJob(document, place)).toThrow('The input names nothing to crawl');
  expect(actorJob(document, { ...place, lists: ['/storage/list-1'] }).inputs).toEqual([
    { kind: 'file', path: '/storage/list-1', name: 'list 1 of startUrls', format: 'auto', urlColumn: null },
  ]);
  expect(actorJob({ routes: true }, place).inputs).toEqual([]);
});

test('the live page is where the platform looks for it, and only there', () => {
  const document = { startUrls: ['https://a.b/'] };
  const env = { ACTOR_WEB_SERVER_PORT: '4321', ACTOR_WEB_SERVER_URL: 'https://run1.runs.apify.net' };
  const ui = { address: '0.0.0.0', port: 4321, hostNames: ['run1.runs.apify.net'] };
  expect(actorJob(document, { ...place, env }).ui).toEqual(ui);
  expect(actorJob(document, place).ui).toBeUndefined();
});
