import dns from 'node:dns';
import type { LookupFunction } from 'node:net';
import { createAddressMatcher } from '@orders/domain/address-ranges.ts';

/** Addresses to reject that request-filtering-agent accepts as public. */
const BLOCKED = [
  // IPv4-compatible and local-use NAT64 addresses, which a gateway may translate to private ones (RFC 4291, RFC 8215).
  '::/96',
  '64:ff9b:1::/48',
  // Site-local addresses (RFC 3879).
  'fec0::/10',
  // The metadata service of Azure.
  '168.63.129.16/32',
];

/** The URL cannot be called, whatever its host resolves to. */
export class AddressRejected extends Error {
  readonly code = 'EADDRREFUSED';
}

const TIMEOUT_MS = 3000;

/** Blocks addresses in addition to the private ones, which request-filtering-agent rejects when it connects. */
export interface AddressFilter {
  isBlocked(address: string): boolean;
  /** Resolves a host. One with a blocked address is not found. */
  lookup: LookupFunction;
}

/**
 * Resolves hosts with c-ares, which does not use the thread pool, so that a slow name server delays only its own hosts. The connection is
 * made to the addresses of this look-up.
 *
 * @param options.servers addresses of DNS servers; if empty, those of the system.
 * @param options.denied addresses and ranges (CIDR) that the operator denies.
 */
export function createAddressFilter(options: { servers: readonly string[]; denied: readonly string[] }): AddressFilter {
  const isBlocked = createAddressMatcher([...BLOCKED, ...options.denied]);
  const resolver = new dns.promises.Resolver({ timeout: TIMEOUT_MS, tries: 2 });
  if (options.servers.length > 0) resolver.setServers(options.servers);
  const find = async (hostname: string) => {
    const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = found.flatMap((result, index) =>
      result.status === 'fulfilled' ? result.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    );
    const [first] = addresses;
    if (!first) throw found[0].status === 'rejected' ? found[0].reason : new Error('no address');
    if (addresses.some(({ address }) => isBlocked(address))) {
      throw Object.assign(new Error('not a public address'), { code: dns.NOTFOUND });
    }
    return { first, addresses };
  };
  return {
    isBlocked,
    lookup(hostname, { all }, callback) {
      find(hostname).then(
        ({ first, addresses }) => (all ? callback(null, addresses) : callback(null, first.address, first.family)),
        (error) => callback(error, '', 0),
      );
    },
  };
}
