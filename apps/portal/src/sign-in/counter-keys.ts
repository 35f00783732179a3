import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';

/** An IPv4 address, or the /64 prefix of an IPv6 address, which providers assign to one customer. */
export function networkOf(address: string): string {
  const unmapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(unmapped)) return unmapped;
  const [head = '', tail = ''] = unmapped.split('::');
  const groups = (text: string) => text.split(':').filter(Boolean);
  const missing = Array(Math.max(0, 8 - groups(head).length - groups(tail).length)).fill('0');
  return [...groups(head), ...missing, ...groups(tail)].slice(0, 4).join(':');
}

/** A key of counters; a digest because addresses are personal data and may be longer than the table's key. */
export function digestOf(...parts: string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url');
}
