import { isStorageUnavailable } from '@orders/database/database-errors.ts';
import { Problem } from '@orders/domain/problems.ts';
import { problemTypeBase, writeProblem } from '@orders/http/write-problem.ts';
import { describeError } from '@orders/runtime/observability/describe-error.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { ErrorRequestHandler } from 'express';
import { ClientDisconnected } from '../parsing/parser.ts';
import type { RejectionLog } from '../rejections/rejection-log.ts';
import { contextOf, logFields } from '../request-context.ts';

interface ProblemDeps {
  logger: Logger;
  rejections: RejectionLog;
  basePath: string;
}

/** Turns every error of a handler into a reply. The reply to an error that is no `Problem` contains no details. */
export function problemHandler({ logger, rejections, basePath }: ProblemDeps): ErrorRequestHandler {
  const typeBase = problemTypeBase(basePath);
  return (error, request, response, _next) => {
    const context = contextOf(request);
    if (error instanceof ClientDisconnected) return context.slot.release();
    const problem = asProblem(error);
    context.problemCode = problem.code;
    context.slot.release();
    if (problem.status >= 500) {
      const level = problem.code === 'internal_error' ? 'error' : 'warn';
      logger.log(level, 'request failed', {
        ...logFields(context),
        route: context.route,
        code: problem.code,
        error: describeError(error, { stack: problem.code === 'internal_error' }),
      });
    }
    if (response.headersSent || !response.writable) response.destroy();
    else writeProblem(request, response, problem, context.requestId, { type: typeBase + problem.code });
    rejections.note(request, problem);
    // Its bytes are no longer counted, and a client can be slow to read the reply.
    request.body = undefined;
  };
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isStorageUnavailable(error)) return new Problem('storage_unavailable');
  return new Problem('internal_error');
}
