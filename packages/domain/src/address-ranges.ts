import { BlockList, isIP } from 'node:net';

/** Max ranges of one API key. */
export const MAX_ADDRESS_RANGES = 20;

/** Whether a string is an IPv4 or IPv6 address, or a range of them (CIDR). */
export function isAddressRange(text: string): boolean {
  const [, address = '', prefix = '0'] = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && Number(prefix) <= (family === 4 ? 32 : 128);
}

/**
 * Matches addresses against addresses and ranges. An IPv4 range also matches IPv4-mapped IPv6 addresses. A string that is not an address
 * never matches.
 */
export function createAddressMatcher(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix), family);
  }
  return (address) => {
    const family = isIP(address);
    return family !== 0 && list.check(address, family === 6 ? 'ipv6' : 'ipv4');
  };
}
