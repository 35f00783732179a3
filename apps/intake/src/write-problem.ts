import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Problem } from '@orders/domain';

const RETRY_AFTER_SECONDS = '2';

/** Replies with a problem (RFC 9457). */
export function writeProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  requestId: string,
): void {
  const { status, title, detail, code, errors } = problem;
  const body = JSON.stringify({
    type: 'about:blank',
    title,
    status,
    detail,
    code,
    request_id: requestId,
    ...(errors && { errors }),
  });
  response.statusCode = status;
  if (status === 503) response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  for (const [name, value] of Object.entries(problem.headers ?? {})) response.setHeader(name, value);
  response
    .setHeader('Content-Type', 'application/problem+json; charset=utf-8')
    .setHeader('Content-Length', Buffer.byteLength(body));
  if (request.complete) response.end(body);
  else {
    // The reply leaves now, but ends with its request: behind it the connection may close, and that would reset a sender who still sends.
    response.write(body);
    request.resume().once('close', () => response.end());
  }
}
