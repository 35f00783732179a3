import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';

// `check` also matches the mapped IPv6 form of an IPv4 address, as sockets that listen on `::` show it.
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether an address, as a socket shows it, is of the loopback. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/**
 * Decides who may change a running process: callers on the loopback, by the address of their socket, and whoever sends the token.
 * Headers that name another address are ignored.
 *
 * @returns the status and the line to answer with, or null when the change is allowed.
 */
export function refuseChange(
  { socket, headers }: Pick<IncomingMessage, 'headers'> & { socket: { remoteAddress?: string | undefined } },
  token: string | undefined,
): { status: 401 | 403; text: string } | null {
  if (isLoopback(socket.remoteAddress)) return null;
  if (token === undefined)
    return { status: 403, text: 'ask from the loopback of this process, or set ADMIN_TOKEN and send it\n' };
  const [, sent] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (sent !== undefined && isSame(sent, token)) return null;
  return { status: 401, text: 'send Authorization: Bearer <ADMIN_TOKEN>, or ask from the loopback of this process\n' };
}

/** Hashed first, as only values of one length can be compared in constant time. */
function isSame(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}
