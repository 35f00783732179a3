import { requestIdOf } from '@orders/http';
import type { Counter, Histogram, Logger } from '@orders/runtime';
import type { Request, RequestHandler } from 'express';
import { contextOf, placeOf, setContext } from './context.ts';

/** Gives each request its id and each reply its common headers, and logs and counts it when it is over. */
export function beginRequest(deps: {
  logger: Logger;
  requests: Counter<'route' | 'status' | 'code'>;
  seconds: Histogram<'route'>;
}): RequestHandler {
  return (request, response, next) => {
    const requestId = requestIdOf(request);
    setContext(request, { requestId, startedAt: performance.now(), route: 'none', leave: placeOf(request) });
    response.setHeader('X-Request-Id', requestId).setHeader('Cache-Control', 'no-store');
    response.on('close', () => {
      const { route, startedAt, holder, receiptId, problem, leave } = contextOf(request);
      leave();
      const duration = performance.now() - startedAt;
      const status = response.writableFinished ? response.statusCode : isTooSlow(request) ? 408 : 499;
      deps.requests.inc({ route, status, code: problem ?? '' });
      deps.seconds.observe({ route }, duration / 1000);
      deps.logger.info(problem ? 'refused' : 'answered', {
        method: request.method,
        route,
        status,
        ...(problem && { code: problem }),
        request_id: requestId,
        ...(holder && { account_id: holder.accountId }),
        ...(receiptId && { receipt_id: receiptId }),
        duration_ms: Math.round(duration * 10) / 10,
      });
    });
    // A path that cannot be decoded is taken as it is: it is simply no path of ours, and no receipt's id.
    try {
      decodeURIComponent(request.path);
    } catch {
      request.url = request.url.replaceAll('%', '%25');
    }
    next();
  };
}

/** Whether its connection was cut off because it took longer than `REQUEST_TIMEOUT`. */
function isTooSlow(request: Request): boolean {
  return (request.socket.errored as NodeJS.ErrnoException | null)?.code === 'ERR_HTTP_REQUEST_TIMEOUT';
}
