import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Problem } from '@orders/domain/problems.ts';

const RETRY_AFTER_SECONDS = '2';

/** Prefix of each problem's type, without its code: a page for senders explains every code (RFC 9457, section 3.1.1). */
export function problemTypeBase(basePath: string): string {
  return `${basePath}/docs/senders/errors#`;
}

/**
 * Replies with a problem (RFC 9457).
 *
 * @param options `type`: URI reference of the explanation; `headers`: alternating names and values, in addition to those of the response
 * and the problem.
 */
export function writeProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  requestId: string,
  { type = 'about:blank', headers = [] }: { type?: string; headers?: readonly string[] } = {},
): void {
  const { status, title, detail, code, errors, installationUrl } = problem;
  const body = JSON.stringify({
    type,
    title,
    status,
    detail,
    code,
    request_id: requestId,
    ...(errors && { errors }),
    ...(installationUrl !== undefined && { installation_url: installationUrl }),
  });
  // One call costs half as much as setting headers one by one.
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
    // The reply is sent now but ended after the request: closing the connection earlier would reset a client that is still sending.
    response.write(body);
    request.resume().once('close', () => response.end());
  }
}
