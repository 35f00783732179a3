import type { RequestListener } from 'node:http';
import { Problem } from '@orders/domain';
import type { Counter, Logger } from '@orders/runtime';
import { keepPlace } from './context.ts';
import type { Places } from './places.ts';
import { requestIdOf } from './request-id.ts';
import { writeProblem } from './write-problem.ts';

const TELL_EVERY_MS = 1000;
const OVERLOADED = new Problem('overloaded');

/**
 * Lets in the POST requests that get a place, and refuses the others before anything is done for them: a refusal must cost a fraction
 * of what an order does, or under twice the load that can be taken there would be time for refusals alone. Whose a request is, is told by
 * its Authorization header as it stands, since looking that up costs more. The log says once a second how many were refused, and not each.
 *
 * @param serve gets what is let in, and all requests that are no POST.
 */
export function shedLoad(
  serve: RequestListener,
  deps: { places: Places; requests: Counter<'route' | 'status' | 'code'>; logger: Logger },
): RequestListener {
  const { places, requests, logger } = deps;
  let refused = 0;

  function countRefusal(): void {
    requests.inc({ route: 'none', status: OVERLOADED.status, code: OVERLOADED.code });
    refused += 1;
    if (refused > 1) return;
    setTimeout(() => {
      logger.warn('more orders are in flight than can be taken; those beyond were refused', { refused });
      refused = 0;
    }, TELL_EVERY_MS).unref();
  }

  return (request, response) => {
    if (request.method !== 'POST') return serve(request, response);
    const leave = places.take(request.headers.authorization ?? '');
    if (leave) {
      keepPlace(request, leave);
      return serve(request, response);
    }
    const requestId = requestIdOf(request);
    response.setHeader('X-Request-Id', requestId).setHeader('Cache-Control', 'no-store');
    writeProblem(request, response, OVERLOADED, requestId);
    countRefusal();
  };
}
