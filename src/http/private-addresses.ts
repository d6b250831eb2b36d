import { BlockList, isIP } from 'node:net';

// IANA IPv4 and IPv6 Special-Purpose Address Registries: everything not globally reachable.
const PRIVATE_IPV4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

// 64:ff9b::/96, 2002::/16 and 2001::/32 carry an IPv4 address that a gateway would reach: refused whole.
const PRIVATE_IPV6: readonly [string, number][] = [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
];

const privateIpv4 = listOf(PRIVATE_IPV4, 'ipv4');
const privateIpv6 = listOf(PRIVATE_IPV6, 'ipv6');

function listOf(ranges: readonly [string, number][], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of ranges) list.addSubnet(network, prefix, family);
  return list;
}

/**
 * @param address an IP address without brackets; a zone ("%eth0") is ignored
 * @returns whether it is loopback, private, link-local, multicast or otherwise not on the public Internet; true for
 *   what is no IP address at all
 */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '');
  const family = isIP(bare);
  if (family === 4) return privateIpv4.check(bare, 'ipv4');
  return family === 6 ? privateIpv6.check(bare, 'ipv6') : true;
}

/** @returns whether the name means this machine whatever DNS says (RFC 6761 6.3). */
export function isLocalName(hostname: string): boolean {
  return /^(?:.*\.)?localhost\.?$/i.test(hostname);
}
