import { checkJson, checkJsonOrLines, collectBody } from '@orders/http';
import type { RequestHandler } from 'express';

/** Refuses what is not JSON in UTF-8, or is compressed, before reading it. */
export const requireJson: RequestHandler = (request, _response, next) => {
  checkJson(request);
  next();
};

/** The same for a batch, which may also be lines of JSON. */
export const requireJsonOrLines: RequestHandler = (request, _response, next) => {
  checkJsonOrLines(request);
  next();
};

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
