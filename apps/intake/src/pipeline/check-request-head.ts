import type { IncomingMessage, RequestListener } from 'node:http';

/**
 * Checks the head of a request before Express sees it. Rejects invalid framing and closes its connection. Reduces the request target to path
 * and query, so that `serve` sees them only.
 */
export function checkRequestHead(serve: RequestListener): RequestListener {
  return (request, response) => {
    const status = framingError(request);
    if (status !== null) {
      const { socket } = request;
      response.writeHead(status, { Connection: 'close', 'Content-Length': 0 }).end(() => socket.destroySoon());
      return;
    }
    request.url = originForm(request.url ?? '/');
    serve(request, response);
  };
}

/**
 * The status for a request that Node's parser accepts but RFC 9112 forbids, or null. A proxy could parse such a request differently (request
 * smuggling).
 */
function framingError({ httpVersion, headers, rawHeaders }: IncomingMessage): number | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return 505;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    // Section 6.1: a transfer coding in HTTP/1.0 is faulty framing. Only chunked is supported.
    if (httpVersion === '1.0') return 400;
    if (coding.trim().toLowerCase() !== 'chunked') return 501;
  }
  return isRepeated(rawHeaders, 'host') || isRepeated(rawHeaders, 'authorization') ? 400 : null;
}

/** Of these headers only one may be sent: a proxy may read another one than Node, which takes the first (RFC 9110, section 5.3). */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at] as string;
    if (header.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count > 1;
}

/** Express splits or rewrites a target at these characters and then routes by the rest. */
const AMBIGUOUS = /[#\s]/;

/** Path and query of a request target, without a fragment. Accepts the absolute form too (RFC 9112, section 3.2). */
function originForm(target: string): string {
  if (target.startsWith('/')) {
    if (!AMBIGUOUS.test(target)) return target;
    return target.replace(/#.*/s, '').replace(/\s/g, encodeURIComponent);
  }
  const url = URL.parse(target);
  return url?.pathname.startsWith('/') ? url.pathname + url.search : '/';
}
