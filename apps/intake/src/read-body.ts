import { collectBody } from '@orders/http';
import type { RequestHandler } from 'express';

/** A check of the request, which throws what it refuses, as a step of a route. */
export function checked(check: (request: Parameters<RequestHandler>[0]) => void): RequestHandler {
  return (request, _response, next) => {
    check(request);
    next();
  };
}

/** Reads the body's exact bytes into `request.body`, as `collectBody` does. */
export function readBody(maxBytes: number): RequestHandler {
  return (request, _response, next) => {
    collectBody(request, maxBytes, (problem, body) => {
      if (problem) return next(problem);
      request.body = body;
      next();
    });
  };
}
