import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';

/** The networks around an address. An IPv4 address has no `wide` one. */
interface Networks {
  /** An IPv4 address, or the /64 of an IPv6 address, the least that a provider assigns to one customer. */
  narrow: string;
  /** The /56 of an IPv6 address, which many providers assign to a home. */
  wide?: string;
  /** The /24 of an IPv4 address, or the /48 of an IPv6 address, which a company or a rented server may have. */
  widest: string;
}

export function networksOf(address: string): Networks {
  const unmapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(unmapped)) return { narrow: unmapped, widest: unmapped.replace(/\.\d+$/, '') };
  const groups = firstGroups(unmapped);
  const [first, second, third, fourth = 0] = groups;
  const widest = [first, second, third].join(':');
  return { narrow: groups.join(':'), wide: `${widest}:${fourth >> 8}`, widest };
}

/** The first four of the eight groups of an IPv6 address. */
function firstGroups(address: string): number[] {
  const [head = [], tail = []] = address.split('::').map((text) => text.split(':').filter(Boolean));
  const missing = Array(Math.max(0, 8 - head.length - tail.length)).fill('0');
  return [...head, ...missing, ...tail].slice(0, 4).map((group) => Number.parseInt(group, 16));
}

/** A key of counters; a digest because addresses are personal data and may be longer than the table's key. */
export function digestOf(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}
