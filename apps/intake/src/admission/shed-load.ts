import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Problem } from '@orders/domain/problems.ts';
import { requestIdOf } from '@orders/http/common-headers.ts';
import { problemTypeBase, writeProblem } from '@orders/http/write-problem.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { Counter, Histogram } from '@orders/runtime/observability/metrics.ts';
import { BATCH_PATH, CANCEL_PATH, RECONCILE_PATH, WEBHOOK_CANCEL_PATH } from '../paths.ts';
import { setArrival } from '../request-context.ts';
import type { Admission, RequestKind } from './admission.ts';

const LOG_INTERVAL_MS = 1000;
const OVERLOADED = new Problem('overloaded');

/**
 * Load shedding: rejects a POST request before its body is read if its account gets no slot, so that a rejection costs less than an order.
 * Applies only to accounts whose key or source is cached; for others the look-up would cost more than it saves. Logs one count a second, not
 * each rejection.
 *
 * @param serve handles all other requests.
 * @param deps.accountOf the account of a request whose key or source is cached.
 */
export function shedLoad(
  serve: RequestListener,
  deps: {
    admission: Admission;
    accountOf: (request: IncomingMessage) => number | undefined;
    requests: Counter<'route' | 'status' | 'code'>;
    seconds: Histogram<'route'>;
    logger: Logger;
    basePath: string;
  },
): RequestListener {
  const { admission, accountOf, requests, seconds, logger, basePath } = deps;
  const type = problemTypeBase(basePath) + OVERLOADED.code;
  const kinds = new Map<string, RequestKind>([
    [basePath + BATCH_PATH, 'batch'],
    [basePath + RECONCILE_PATH, 'list'],
    [basePath + CANCEL_PATH, 'cancellation'],
    [basePath + WEBHOOK_CANCEL_PATH, 'cancellation'],
  ]);
  let rejected = 0;

  function count(status: number, code: string, arrivedAt: number): void {
    requests.inc({ route: 'none', status, code });
    seconds.observe({ route: 'none' }, (performance.now() - arrivedAt) / 1000);
  }

  function reject(request: IncomingMessage, response: ServerResponse): void {
    const requestId = requestIdOf(request);
    const headers = ['X-Request-Id', requestId, 'Cache-Control', 'no-store'];
    writeProblem(request, response, OVERLOADED, requestId, { type, headers });
    rejected += 1;
    if (rejected > 1) return;
    setTimeout(() => {
      logger.warn('requests rejected: accounts at their slot limit', { rejected });
      rejected = 0;
    }, LOG_INTERVAL_MS).unref();
  }

  return (request, response) => {
    if (request.method !== 'POST') return serve(request, response);
    const { url = '/' } = request;
    const query = url.indexOf('?');
    // Routing is case sensitive, strict about trailing slashes and undecoded, so no other path reaches these routes.
    const kind = kinds.get(query < 0 ? url : url.slice(0, query)) ?? 'order';
    const accountId = admission.isBusy(kind) ? accountOf(request) : undefined;
    if (accountId === undefined || admission.hasRoom(kind, accountId)) return serve(request, response);
    const arrivedAt = performance.now();
    void admission.waitForRoom(kind, accountId, request).then((hasRoom) => {
      if (request.destroyed || response.destroyed) return count(499, '', arrivedAt);
      if (!hasRoom) {
        count(OVERLOADED.status, OVERLOADED.code, arrivedAt);
        return reject(request, response);
      }
      setArrival(request, arrivedAt);
      serve(request, response);
    });
  };
}
