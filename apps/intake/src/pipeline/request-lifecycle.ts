import { requestIdOf, setCommonHeaders } from '@orders/http/common-headers.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { Counter, Histogram } from '@orders/runtime/observability/metrics.ts';
import type { Span, Tracing } from '@orders/runtime/observability/span.ts';
import type { Request, RequestHandler } from 'express';
import { NO_SLOT } from '../admission/admission.ts';
import { arrivalOf, contextOf, logFields, type RequestContext, setContext } from '../request-context.ts';

/** Assigns the request id, sets the common reply headers, and logs, counts and (if enabled) traces each request. */
export function requestLifecycle(deps: {
  logger: Logger;
  requests: Counter<'route' | 'status' | 'code'>;
  seconds: Histogram<'route'>;
  tracing: Tracing | null;
}): RequestHandler {
  return (request, response, next) => {
    const requestId = requestIdOf(request);
    const span = beginSpan(deps.tracing, request);
    setContext(request, { requestId, startedAt: arrivalOf(request), route: 'none', span, slot: NO_SLOT });
    setCommonHeaders(response, requestId);
    response.on('close', () => {
      const context = contextOf(request);
      const { route, startedAt, problemCode, slot } = context;
      slot.release();
      const duration = performance.now() - startedAt;
      const status = response.writableFinished ? response.statusCode : isTooSlow(request) ? 408 : 499;
      deps.requests.inc({ route, status, code: problemCode ?? '' });
      deps.seconds.observe({ route }, duration / 1000);
      deps.logger.info(problemCode ? 'request rejected' : 'request completed', {
        method: request.method,
        route,
        status,
        ...(problemCode && { code: problemCode }),
        ...logFields(context),
        ...context.batch,
        duration_ms: Math.round(duration * 10) / 10,
      });
      if (context.span) endSpan(context.span, request, context, status);
    });
    // Express would fail on an undecodable path; escaped, it is simply an unknown path or receipt id.
    try {
      decodeURIComponent(request.path);
    } catch {
      request.url = request.url.replaceAll('%', '%25');
    }
    next();
  };
}

/** Whether the connection was closed because the request exceeded `REQUEST_TIMEOUT`. */
function isTooSlow(request: Request): boolean {
  return (request.socket.errored as NodeJS.ErrnoException | null)?.code === 'ERR_HTTP_REQUEST_TIMEOUT';
}

/** Continues the sender's trace, if there is one. Ignores `tracestate`, which has arbitrary length and content. */
function beginSpan(tracing: Tracing | null, { headers, method }: Request): Span | null {
  const { traceparent } = headers;
  const parent = typeof traceparent === 'string' ? traceparent : undefined;
  return tracing?.begin(method, { kind: 'server', parent }) ?? null;
}

/** Senders may put anything into a request id, and spans leave the service, so only UUIDs are exported. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Follows OpenTelemetry's semantic conventions for HTTP servers, but omits the path, which may contain anything. */
function endSpan(span: Span, { method }: Request, context: RequestContext, status: number): void {
  const { requestId, route, problemCode, receiptId } = context;
  span.rename(route === 'none' ? method : `${method} ${route}`);
  span.set({
    'http.request.method': method,
    ...(route !== 'none' && { 'http.route': route }),
    'http.response.status_code': status,
    'url.scheme': 'http',
    ...(UUID.test(requestId) && { 'orders.request_id': requestId }),
    ...(receiptId && { 'orders.receipt_id': receiptId }),
    ...(problemCode && { 'orders.problem_code': problemCode }),
  });
  if (status >= 500) span.fail(problemCode ?? String(status));
  span.end();
}
