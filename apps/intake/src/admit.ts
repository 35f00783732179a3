import { Problem } from '@orders/domain';
import type { RequestHandler } from 'express';
import { contextOf } from './context.ts';

/**
 * Lets at most `max` orders be in flight, from before their bodies are read until they are recorded, so that memory stays bounded.
 *
 * @throws {Problem} `overloaded`.
 */
export function admit(max: number): RequestHandler {
  let inFlight = 0;
  return (request, _response, next) => {
    // One that has ended by now would never leave its place.
    if (request.destroyed) return;
    if (inFlight >= max) throw new Problem('overloaded');
    inFlight += 1;
    let left = false;
    contextOf(request).leave = () => {
      if (!left) inFlight -= 1;
      left = true;
    };
    next();
  };
}
