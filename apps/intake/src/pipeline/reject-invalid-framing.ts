import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Rejects requests that Node's parser accepts but RFC 9112 forbids, since a proxy could parse them differently (request smuggling).
 *
 * @returns whether the request was rejected; its connection is then closed.
 */
export function rejectInvalidFraming(request: IncomingMessage, response: ServerResponse): boolean {
  const status = framingError(request);
  if (status === null) return false;
  const { socket } = request;
  response.writeHead(status, { Connection: 'close', 'Content-Length': 0 }).end(() => socket.destroySoon());
  return true;
}

function framingError({ httpVersion, headers, rawHeaders }: IncomingMessage): number | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 505;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    // Section 6.1: a transfer coding in HTTP/1.0 is faulty framing. Only chunked is supported.
    if (httpVersion === '1.0') return 400;
    if (coding.trim().toLowerCase() !== 'chunked') return 501;
  }
  // Section 3.2: more than one Host header.
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (isHost(rawHeaders[at] as string)) hosts += 1;
  return hosts > 1 ? 400 : null;
}

function isHost(name: string): boolean {
  return name.length === 4 && name.toLowerCase() === 'host';
}
