import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { checkSetup, printSetup } from '../../../src/measure/setup/check-setup.ts';
import { checkClock, checkFileLimit, checkMemory, checkNode } from '../../../src/measure/setup/machine-checks.ts';
import { checkAuthorities, checkDatabase, checkDns, checkProxy } from '../../../src/measure/setup/network-checks.ts';
import { checkStorage } from '../../../src/measure/setup/storage-check.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-setup-'));
});

afterAll(() => rm(folder, { recursive: true }));

test('a Node that is too old is a problem', () => {
  expect(checkNode('v24.1.0').status).toBe('ok');
  expect(checkNode('v20.20.2')).toMatchObject({
    status: 'problem',
    text: 'v20.20.2: millrace needs Node 24 or newer.',
  });
});

test('few open files are told of, with what to do', () => {
  const limits = (soft: string) =>
    `Limit Soft Hard Units\nMax open files            ${soft}                4096     files\n`;
  expect(checkFileLimit(limits('256')).text).toContain('keep maxConcurrency below 128');
  expect(checkFileLimit(limits('1024')).status).toBe('ok');
  expect(checkFileLimit(limits('unlimited')).text).toBe('no limit');
  expect(checkFileLimit(null).status).toBe('ok');
});

test('little memory, and a clock before this was written, are told of', () => {
  expect(checkMemory(100 * 1024 * 1024).status).toBe('warning');
  expect(checkMemory(1024 * 1024 * 1024).status).toBe('ok');
  expect(checkClock(Date.UTC(2020, 0, 1)).status).toBe('problem');
  expect(checkClock(Date.UTC(2026, 5, 1)).status).toBe('ok');
});

test('a folder that can be written is left as it was, even where it is not there yet', async () => {
  const missing = join(folder, 'a', 'b');
  expect(await checkStorage(missing)).toMatchObject({ status: 'ok', text: expect.stringContaining('(not there yet)') });
  expect((await checkStorage(folder)).status).toBe('ok');
  expect(await readdir(folder)).toEqual([]);
});

test('a folder that cannot be is a problem', async () => {
  const file = join(folder, 'file');
  await writeFile(file, '');
  expect(await checkStorage(join(file, 'storage'))).toMatchObject({
    status: 'problem',
    text: expect.stringContaining('--storage-dir'),
  });
  await rm(file);
});

test('a database is known by its answer to the first message of PostgreSQL', async () => {
  const answers = ['N', 'S', 'HTTP/1.1 400'];
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.once('data', (data) => {
      asked.push(data.toString('hex'));
      socket.end(answers.shift() ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `postgresql://user:secret@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/db`;
  expect(await checkDatabase(url, systemClock)).toMatchObject({
    status: 'ok',
    text: expect.not.stringContaining('TLS'),
  });
  expect((await checkDatabase(url, systemClock)).text).toContain('with TLS');
  expect((await checkDatabase(url, systemClock)).text).toContain('is not PostgreSQL');
  await new Promise((resolve) => server.close(resolve));
  const refused = await checkDatabase(url, systemClock);
  expect(refused.status).toBe('problem');
  expect(refused.text).not.toContain('secret');
  expect(asked[0]).toBe('0000000804d2162f');
  expect((await checkDatabase('mysql://x', systemClock)).status).toBe('problem');
});

test('proxy variables are not used, and that is said', () => {
  expect(checkProxy({}).status).toBe('ok');
  expect(checkProxy({ HTTPS_PROXY: 'http://user:secret@proxy:1' }).text).toBe(
    'HTTPS_PROXY is set, and not used: name proxies by hosts."...".sessionPool.proxyUrls, for example ["${env:HTTPS_PROXY}"].',
  );
});

test('authorities that cannot be read are a problem', async () => {
  expect((await checkAuthorities({})).status).toBe('ok');
  expect((await checkAuthorities({ NODE_EXTRA_CA_CERTS: join(folder, 'none.pem') })).status).toBe('problem');
});

test('names that do not resolve are told of', async () => {
  expect((await checkDns(systemClock, async () => {})).status).toBe('ok');
  expect((await checkDns(systemClock, async () => Promise.reject(new Error('ENOTFOUND')))).text).toContain('ENOTFOUND');
});

test('all of it is printed, one line each', async () => {
  const checks = await checkSetup({ clock: systemClock, env: {}, storageDir: folder, databaseUrl: null });
  expect(checks.map(({ name }) => name)).toEqual([
    'Node',
    'Storage',
    'DNS',
    'Proxy',
    'Certificates',
    'Clock',
    'Open files',
    'Memory',
  ]);
  expect(printSetup(checks, { color: false }).split('\n')).toHaveLength(8);
});
