import { expect, test } from 'vitest';
import { redactConfig, redactUrl } from '../../src/report/redact.ts';

test.each([
  ['https://x/?api_key=s3cret&page=2', 'https://x/?api_key=[redacted]&page=2'],
  ['https://x/?page=2&access_token=s3cret#a', 'https://x/?page=2&access_token=[redacted]#a'],
  ['https://x/?X-Amz-Signature=abc&sig=d', 'https://x/?X-Amz-Signature=[redacted]&sig=[redacted]'],
  [
    'https://x/?apiKey=1&clientSecret=2&%61pi_key=3',
    'https://x/?apiKey=[redacted]&clientSecret=[redacted]&%61pi_key=[redacted]',
  ],
  ['https://user:pass@x/a', 'https://[redacted]@x/a'],
  ['http://user@proxy:8080', 'http://[redacted]@proxy:8080'],
  ['https://x/a@b?keyword=k&monkey=m&tokens=3&author=a', 'https://x/a@b?keyword=k&monkey=m&tokens=3&author=a'],
  ['https://x/?cursor=abc&%E0%A4%A=1', 'https://x/?cursor=abc&%E0%A4%A=1'],
])('%s', (url, expected) => {
  expect(redactUrl(url)).toBe(expected);
});

test('a configuration shows where secrets are from, never what they are', () => {
  const config = {
    headers: { authorization: 'Bearer s3cret', 'x-custom': 's3cret', accept: 'application/json', cookie: '${env:C}' },
    api: { auth: { type: 'bearer', token: '${env:API_TOKEN}' }, baseUrl: 'https://u:p@x/' },
    hosts: {
      'api.example.com': {
        maxConcurrency: 20,
        sessionPool: {
          proxyUrls: ['http://u:s3cret@proxy:8080'],
          credentials: [{ name: 'first', headers: { 'x-api-key': 's3cret' } }],
        },
      },
    },
    startUrls: ['https://x/?token=s3cret', { url: 'https://x/', headers: { 'X-Key': 's3cret' }, payload: '{}' }],
    oauth: { clientId: 'me', clientSecret: 's3cret', password: 's3cret', tokenUrl: 'https://x/token' },
    apiKey: 12345,
    refresh: false,
    body: null,
  };
  const shown = redactConfig(config);
  expect(JSON.stringify(shown)).not.toContain('s3cret');
  expect(shown).toMatchObject({
    headers: { authorization: '[redacted]', accept: 'application/json', cookie: '${env:C}' },
    api: { auth: { type: 'bearer', token: '${env:API_TOKEN}' }, baseUrl: 'https://[redacted]@x/' },
    hosts: { 'api.example.com': { maxConcurrency: 20, sessionPool: { credentials: [{ name: 'first' }] } } },
    oauth: { clientId: 'me', clientSecret: '[redacted]', tokenUrl: 'https://x/token' },
    apiKey: '[redacted]',
    refresh: false,
    body: null,
  });
});
