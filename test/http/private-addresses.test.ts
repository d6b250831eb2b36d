import { expect, test } from 'vitest';
import { isLocalName, isPrivateAddress } from '../../src/http/private-addresses.ts';

test.each([
  ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
  ...['172.31.255.255', '192.0.0.8', '192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::ffff:10.0.0.1', '::ffff:7f00:1', '::7f00:1', '64:ff9b::a00:1', '2002:7f00:1::', '2001::1'],
  ...['fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'ff02::1', '2001:db8::1', 'not an address'],
])('%s is private', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '172.15.0.1',
  '172.32.0.1',
  '100.128.0.1',
  '192.0.1.1',
  '2606:4700::1111',
  '2a00:1450::1',
])('%s is public', (address) => {
  expect(isPrivateAddress(address)).toBe(false);
});

test('localhost and all below it are local', () => {
  for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'app.localhost']) expect(isLocalName(name)).toBe(true);
  for (const name of ['localhost.example.com', 'mylocalhost', 'example.com']) expect(isLocalName(name)).toBe(false);
});
