import type { RequestListener } from 'node:http';
import type { Counter, Logger } from '@orders/runtime';
import { BATCH_PATH } from './batch/batch-path.ts';
import type { Places } from './places.ts';
import { RECONCILE_PATH } from './reconcile.ts';
import { shedLoad } from './shed-load.ts';

/**
 * Lets requests in as there are places. Batches have places of their own, since each takes as much memory and time as many orders: so
 * neither keeps the other out, and what waits for a place waits for its own kind. A list of ids may be as long as a batch, and counts
 * as one.
 *
 * @param serve gets the request with the path and query alone as its target.
 */
export function letIn(
  serve: RequestListener,
  deps: {
    places: Places;
    batchPlaces: Places;
    requests: Counter<'route' | 'status' | 'code'>;
    logger: Logger;
    basePath: string;
  },
): RequestListener {
  const { places, batchPlaces, requests, logger, basePath } = deps;
  const orders = shedLoad(serve, { places, requests, logger, basePath });
  const batches = shedLoad(serve, { places: batchPlaces, requests, logger, basePath });
  const batchPaths = [BATCH_PATH, RECONCILE_PATH].map((path) => basePath + path);
  return (request, response) => {
    const url = originForm(request.url ?? '/');
    request.url = url;
    const isBatch = batchPaths.some((path) => url === path || url.startsWith(`${path}?`));
    (isBatch ? batches : orders)(request, response);
  };
}

/** The path and query of a request's target, also of one in absolute form (RFC 9112, section 3.2): Express would give up on some. */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const url = URL.parse(target);
  return url?.pathname.startsWith('/') ? url.pathname + url.search : '/';
}
