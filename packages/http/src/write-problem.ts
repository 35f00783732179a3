import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Problem } from '@orders/domain';

const RETRY_AFTER_SECONDS = '2';

/** Where each problem is explained, up to its code: a page for senders has an entry for every one (RFC 9457, section 3.1.1). */
export function problemTypeBase(basePath: string): string {
  return `${basePath}/docs/senders/errors#`;
}

/**
 * Replies with a problem (RFC 9457).
 *
 * @param options `type` says where the problem is explained, as a URI reference; `headers` are names and values in turns, beside those that
 * the response and the problem have.
 */
export function writeProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  requestId: string,
  { type = 'about:blank', headers = [] }: { type?: string; headers?: readonly string[] } = {},
): void {
  const { status, title, detail, code, errors } = problem;
  const body = JSON.stringify({
    type,
    title,
    status,
    detail,
    code,
    request_id: requestId,
    ...(errors && { errors }),
  });
  // At once, which costs half of what one after the other does.
  response.writeHead(status, [
    ...headers,
    ...Object.entries(problem.headers ?? {}).flat(),
    ...(status === 503 ? ['Retry-After', RETRY_AFTER_SECONDS] : []),
    'Content-Type',
    'application/problem+json; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
  ]);
  if (request.complete) response.end(body);
  else {
    // The reply leaves now, but ends with its request: behind it the connection may close, and that would reset a sender who still sends.
    response.write(body);
    request.resume().once('close', () => response.end());
  }
}
