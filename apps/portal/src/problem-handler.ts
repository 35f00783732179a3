import { isStorageUnavailable, sqlstateOf } from '@orders/database/database-errors.ts';
import { Problem } from '@orders/domain/problems.ts';
import { writeProblem } from '@orders/http/write-problem.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { ErrorRequestHandler } from 'express';
import { contextOf, logFields } from './context.ts';
import { ClientDisconnectedError } from './fair-limiter.ts';

/** Turns thrown errors into problem responses. Errors other than `Problem` reveal nothing to the client. */
export function problemHandler(logger: Logger): ErrorRequestHandler {
  return (error, request, response, _next) => {
    if (error instanceof ClientDisconnectedError) return;
    const context = contextOf(request);
    const problem = asProblem(error);
    context.problem = problem.code;
    if (problem.status >= 500) {
      logger.log(problem.code === 'internal_error' ? 'error' : 'warn', 'request failed', {
        ...logFields(context),
        code: problem.code,
        error: describeError(error, { stack: problem.code === 'internal_error' }),
      });
    }
    if (response.headersSent || !response.writable) response.destroy();
    else writeProblem(request, response, problem, context.requestId);
  };
}

/** The problem that a client sees for a thrown error. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // From the body parser: too long, cut short, nested too deep, or in another charset or encoding.
  const status = (error as { status?: unknown }).status;
  if (status === 413) return new Problem('payload_too_large');
  if (status === 400 || status === 403 || status === 415) return new Problem('malformed_body');
  if (isStorageUnavailable(error)) return new Problem('storage_unavailable');
  // SQLSTATE class 22, data exceptions: a value that passed validation and that Postgres cannot hold.
  if (sqlstateOf(error)?.startsWith('22')) return new Problem('invalid_request');
  return new Problem('internal_error');
}
