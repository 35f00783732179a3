import { isStorageUnavailable } from '@orders/database';
import { Problem } from '@orders/domain';
import { describeError, type Logger } from '@orders/runtime';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { contextOf } from './context.ts';

const RETRY_AFTER_SECONDS = '2';

/** The one place where an error becomes a reply: RFC 9457 problem details. What is not a `Problem` says nothing of itself. */
export function sendProblems(logger: Logger): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const context = contextOf(request);
    const problem = asProblem(error);
    context.problem = problem.code;
    context.leave?.();
    if (problem.status >= 500 && problem.code !== 'overloaded') {
      const level = problem.code === 'internal_error' ? 'error' : 'warn';
      logger.log(level, 'request failed', {
        request_id: context.requestId,
        route: context.route,
        code: problem.code,
        error: describeError(error, { stack: problem.code === 'internal_error' }),
      });
    }
    if (response.headersSent || !response.writable) {
      response.destroy();
      return;
    }
    writeProblem(request, response, problem);
  };
}

function writeProblem(request: Request, response: Response, problem: Problem): void {
  if (problem.status === 503) response.set('Retry-After', RETRY_AFTER_SECONDS);
  const body = JSON.stringify({
    type: 'about:blank',
    title: problem.title,
    status: problem.status,
    detail: problem.detail,
    code: problem.code,
    request_id: contextOf(request).requestId,
    ...(problem.errors && { errors: problem.errors }),
  });
  response
    .status(problem.status)
    .set(problem.headers ?? {})
    .set({
      'Content-Type': 'application/problem+json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
    });
  if (request.complete) response.end(body);
  else {
    // The reply leaves now, but ends with its request: behind it the connection may close, and that would reset a sender who still sends.
    response.write(body);
    request.resume().once('close', () => response.end());
  }
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isStorageUnavailable(error)) return new Problem('storage_unavailable');
  return new Problem('internal_error');
}
