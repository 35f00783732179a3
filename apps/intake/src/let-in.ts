import type { RequestListener } from 'node:http';
import type { Counter, Logger } from '@orders/runtime';
import { BATCH_PATH } from './batch/batch-path.ts';
import type { Places } from './places.ts';
import { RECONCILE_PATH } from './reconcile.ts';
import { type SlowUploads, shedLoad } from './shed-load.ts';

/**
 * Lets requests in as there are places. Batches have places of their own, since each takes as much memory and time as many orders, and
 * so have lists of ids: none of the three keeps another out, and what waits for a place waits for its own kind.
 *
 * @param serve gets the request with the path and query alone as its target.
 * @param deps.slow of batches and lists of ids, of whose few places a slow sender would otherwise keep all that one gets.
 */
export function letIn(
  serve: RequestListener,
  deps: {
    places: Places;
    batchPlaces: Places;
    listPlaces: Places;
    requests: Counter<'route' | 'status' | 'code'>;
    logger: Logger;
    basePath: string;
    slow: SlowUploads;
  },
): RequestListener {
  const { places, batchPlaces, listPlaces, requests, logger, basePath, slow } = deps;
  const common = { requests, logger, basePath };
  const orders = shedLoad(serve, { ...common, places });
  const others = new Map([
    [basePath + BATCH_PATH, shedLoad(serve, { ...common, places: batchPlaces, slow })],
    [basePath + RECONCILE_PATH, shedLoad(serve, { ...common, places: listPlaces, slow })],
  ]);
  return (request, response) => {
    const url = originForm(request.url ?? '/');
    request.url = url;
    const query = url.indexOf('?');
    // Routes are matched exactly: by case, by a slash at the end and undecoded, so no other path leads to these.
    const listener = others.get(query < 0 ? url : url.slice(0, query)) ?? orders;
    listener(request, response);
  };
}

/** What Express takes a target apart for in another way: of these it drops or rewrites parts, and then routes by what is left. */
const RARE = /[#\s]/;

/**
 * The path and query of a request's target, without a fragment, and so that Express takes them as they are. Also of a target in absolute
 * form (RFC 9112, section 3.2), some of which it would give up on.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) {
    if (!RARE.test(target)) return target;
    return target.replace(/#.*/s, '').replace(/\s/g, encodeURIComponent);
  }
  const url = URL.parse(target);
  return url?.pathname.startsWith('/') ? url.pathname + url.search : '/';
}
