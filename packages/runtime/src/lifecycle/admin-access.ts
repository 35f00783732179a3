import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';

// `check` also matches IPv4-mapped IPv6 addresses, which sockets that listen on `::` report.
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Whether a socket's remote address is a loopback address. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/**
 * Only callers on the loopback interface and callers with the token may change a running process. The socket's address decides; headers
 * such as `X-Forwarded-For` are ignored.
 *
 * @returns status and body of the refusal, or null when the change is allowed.
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

/** Hashes first, as a constant-time comparison needs values of equal length. */
function isSame(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}
