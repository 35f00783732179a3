import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Problem } from '@orders/domain';
import { explainedAt, requestIdOf, writeProblem } from '@orders/http';
import type { Counter, Logger } from '@orders/runtime';
import { keepPlace } from './context.ts';
import type { Places } from './places.ts';

/** How a request is ended that takes too long to come, and from when on it may be. */
export interface SlowUploads {
  /** So long, in milliseconds, a request may take to come whole and keep its place from all others. */
  afterMs: number;
  cutOff: (request: IncomingMessage) => void;
}

interface Waiting {
  request: IncomingMessage;
  response: ServerResponse;
  since: number;
}

/**
 * So long, in milliseconds, a request waits for a place before it is refused. Refused at once, senders would be back at once, and the
 * refusals would take the time that those need who have a place.
 */
const PATIENCE_MS = 20;
const LOOK_AGAIN_MS = 10;
/** Requests that may wait for a place, for each place there is; their bodies take memory too. */
const WAITING_PER_PLACE = 2;
const TELL_EVERY_MS = 1000;
const OVERLOADED = new Problem('overloaded');

/**
 * Lets in the POST requests that get a place, and refuses the others before anything is done for them: a refusal must cost a fraction of
 * what an order does. Whose a request is, is told by its key as it stands, since looking that up costs more. The log says once a second how
 * many were refused, and not each.
 *
 * @param deps.slow where given, a request that is still coming after that time gives way to one that finds no place.
 * @param serve gets what is let in, and all requests that are no POST.
 */
export function shedLoad(
  serve: RequestListener,
  deps: {
    places: Places;
    requests: Counter<'route' | 'status' | 'code'>;
    logger: Logger;
    basePath: string;
    slow?: SlowUploads;
  },
): RequestListener {
  const { places, requests, logger, slow } = deps;
  const type = explainedAt(deps.basePath) + OVERLOADED.code;
  let waiting: Waiting[] = [];
  let looking = false;
  let refused = 0;

  function refuse({ request, response }: Waiting): void {
    const requestId = requestIdOf(request);
    const headers = ['X-Request-Id', requestId, 'Cache-Control', 'no-store'];
    writeProblem(request, response, OVERLOADED, requestId, { type, headers });
    requests.inc({ route: 'none', status: OVERLOADED.status, code: OVERLOADED.code });
    refused += 1;
    if (refused > 1) return;
    setTimeout(() => {
      logger.warn('more orders are in flight than can be taken; those beyond were refused', { refused });
      refused = 0;
    }, TELL_EVERY_MS).unref();
  }

  function letIn({ request, response }: Waiting): boolean {
    const leave = places.take(senderOf(request), slow && givingWay(request, slow));
    if (!leave) return false;
    keepPlace(request, leave);
    serve(request, response);
    return true;
  }

  function lookAgain(): void {
    const now = performance.now();
    waiting = waiting.filter((one) => {
      if (one.request.destroyed || one.response.destroyed || letIn(one)) return false;
      if (now - one.since < PATIENCE_MS) return true;
      refuse(one);
      return false;
    });
    looking = waiting.length > 0;
    if (looking) setTimeout(lookAgain, LOOK_AGAIN_MS);
  }

  return (request, response) => {
    if (request.method !== 'POST') return serve(request, response);
    const one = { request, response, since: performance.now() };
    // Nobody passes those who wait.
    if (waiting.length === 0 && letIn(one)) return;
    if (waiting.length >= WAITING_PER_PLACE * places.max) {
      // Those who wait may all be of one sender, who has all that it gets.
      if (!letIn(one)) refuse(one);
      return;
    }
    waiting.push(one);
    if (looking) return;
    looking = true;
    setTimeout(lookAgain, LOOK_AGAIN_MS);
  };
}

/** The key of the Authorization header, however that spells the rest. */
function senderOf({ headers: { authorization = '' } }: IncomingMessage): string {
  return authorization.slice(authorization.lastIndexOf(' ') + 1);
}

function givingWay(request: IncomingMessage, { afterMs, cutOff }: SlowUploads): () => boolean {
  const slowFrom = performance.now() + afterMs;
  return () => {
    if (request.complete || performance.now() < slowFrom) return false;
    cutOff(request);
    return true;
  };
}
