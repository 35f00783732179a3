import { requestIdOf } from '@orders/http/common-headers.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { RequestHandler } from 'express';
import { contextOf, logFields, setContext } from './context.ts';
import { ClientDisconnectedError } from './fair-limiter.ts';
import { type PortalMetrics, REJECTED_SIGN_IN } from './metrics.ts';

/** Gives each request its id; logs and counts it when it ends. The log has the route, not the path, which contains ids. */
export function startRequest({ logger, metrics }: { logger: Logger; metrics: PortalMetrics }): RequestHandler {
  return (request, response, next) => {
    const closing = new AbortController();
    setContext(request, { requestId: requestIdOf(request), startedAt: performance.now(), closed: closing.signal });
    response.setHeader('X-Request-Id', contextOf(request).requestId);
    response.on('close', () => {
      closing.abort(new ClientDisconnectedError());
      const context = contextOf(request);
      const { startedAt, problem } = context;
      const duration = performance.now() - startedAt;
      const [route = 'none'] = [request.route?.path as string | string[] | undefined].flat();
      const status = response.writableFinished ? response.statusCode : 499;
      metrics.requests.inc({ route, status, code: problem ?? '' });
      if (problem !== undefined && REJECTED_SIGN_IN.includes(problem)) metrics.rejectedSignIns.inc({ code: problem });
      metrics.requestSeconds.observe({ route }, duration / 1000);
      logger.log(route === 'none' && !problem ? 'debug' : 'info', problem ? 'request rejected' : 'request completed', {
        method: request.method,
        route,
        status,
        ...(problem && { code: problem }),
        ...logFields(context),
        duration_ms: Math.round(duration * 10) / 10,
      });
    });
    next();
  };
}
