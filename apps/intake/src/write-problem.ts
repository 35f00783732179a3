import type { ServerResponse } from 'node:http';
import type { Problem } from '@orders/domain';

const RETRY_AFTER_SECONDS = '2';

/** Ends the reply with a problem (RFC 9457). */
export function writeProblem(response: ServerResponse, problem: Problem, requestId: string): void {
  const { status, title, detail, code, errors } = problem;
  response.statusCode = status;
  if (status === 503) response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
  for (const [name, value] of Object.entries(problem.headers ?? {})) response.setHeader(name, value);
  response.setHeader('Content-Type', 'application/problem+json; charset=utf-8');
  response.end(
    JSON.stringify({
      type: 'about:blank',
      title,
      status,
      detail,
      code,
      request_id: requestId,
      ...(errors && { errors }),
    }),
  );
}
