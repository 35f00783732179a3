import dns from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Addresses to refuse that request-filtering-agent accepts as public. */
const blocked = new BlockList();
// IPv4-compatible and local-use NAT64 addresses, which a gateway may translate to private ones (RFC 4291, RFC 8215).
blocked.addSubnet('::', 96, 'ipv6');
blocked.addSubnet('64:ff9b:1::', 48, 'ipv6');
// Site-local addresses (RFC 3879).
blocked.addSubnet('fec0::', 10, 'ipv6');
// The metadata service of Azure.
blocked.addAddress('168.63.129.16', 'ipv4');

export function isBlocked(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && blocked.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The host has an address that is not called. */
export class AddressRefused extends Error {
  readonly code = 'EADDRREFUSED';
}

const TIMEOUT_MS = 3000;

/**
 * Resolves hosts with c-ares, which occupies no thread, so that a slow name server delays only its own hosts. Refuses a host with any
 * address of the list above; request-filtering-agent checks the rest when it connects, to the addresses of this look-up.
 *
 * @param servers addresses of DNS servers; if empty, those of the system.
 */
export function createLookup(servers: readonly string[]): LookupFunction {
  const resolver = new dns.promises.Resolver({ timeout: TIMEOUT_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  const find = async (hostname: string) => {
    const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = found.flatMap((result, index) =>
      result.status === 'fulfilled' ? result.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    );
    const [first] = addresses;
    if (!first) throw found[0].status === 'rejected' ? found[0].reason : new Error('no address');
    if (addresses.some(({ address }) => isBlocked(address))) throw new AddressRefused('blocked address');
    return { first, addresses };
  };
  return (hostname, options, callback) => {
    find(hostname).then(
      ({ first, addresses }) => (options.all ? callback(null, addresses) : callback(null, first.address, first.family)),
      (error) => callback(error, '', 0),
    );
  };
}
