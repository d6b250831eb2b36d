import { expect, test } from 'vitest';
import { secretsStillMissing, storableDocument } from '../../src/config/storable-document.ts';

test('secrets written into a document are left out, references and all else stay', () => {
  const { document, missingSecrets } = storableDocument({
    startUrls: [{ url: 'https://a.b/?token=1', headers: { 'X-Key': 'kept: it is what is crawled' } }],
    body: '{"token": 1}',
    method: 'POST',
    headers: { Accept: 'application/json', Authorization: 'Bearer hunter2', 'X-Tenant': '${env:TENANT}' },
    hosts: {
      'a.b': {
        maxConcurrency: 3,
        sessionPool: {
          proxyUrls: ['http://user:hunter2@proxy:8080', 'http://proxy:8081'],
          credentials: [{ name: 'one', headers: { Authorization: 'Bearer hunter2' } }],
        },
      },
    },
  });
  expect(JSON.stringify(document)).not.toContain('hunter2');
  expect(document).toEqual({
    startUrls: [{ url: 'https://a.b/?token=1', headers: { 'X-Key': 'kept: it is what is crawled' } }],
    body: '{"token": 1}',
    method: 'POST',
    headers: { Accept: 'application/json', 'X-Tenant': '${env:TENANT}' },
    hosts: {
      'a.b': {
        maxConcurrency: 3,
        sessionPool: { proxyUrls: ['http://proxy:8081'], credentials: [{ name: 'one', headers: {} }] },
      },
    },
  });
  expect(missingSecrets).toEqual([
    'headers.Authorization',
    'hosts["a.b"].sessionPool.proxyUrls[0]',
    'hosts["a.b"].sessionPool.credentials[0].headers.Authorization',
  ]);
});

test('secrets of a declared API are left out by what they are called', () => {
  const api = { baseUrl: 'https://a.b', resources: [{ name: 'x', endpoint: { path: '/x' } }] };
  const apiKey = { ...api, auth: { type: 'apiKey' as const, name: 'key', value: 'hunter2' } };
  const bearer = { ...api, auth: { type: 'bearer' as const, token: '${env:TOKEN}' } };
  expect(storableDocument({ api: apiKey }).missingSecrets).toEqual(['api.auth.value']);
  expect(storableDocument({ api: bearer })).toEqual({ document: { api: bearer }, missingSecrets: [] });
});

test('a header given again is not missing, whatever its case', () => {
  const settings = [{ path: ['headers'], value: { authorization: 'Bearer x' }, name: '--header' }];
  const missing = ['headers.Authorization', 'headers["X-Key"]'];
  expect(secretsStillMissing(missing, settings)).toEqual(['headers["X-Key"]']);
});
