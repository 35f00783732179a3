import { Problem } from '@orders/domain';
import { checkJson, checkJsonOrLines, readRawBody } from '@orders/http';
import type { RequestHandler } from 'express';
import type { Admission, RequestKind } from '../admission/admission.ts';
import { accountOf, contextOf } from '../request-context.ts';

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

/**
 * Reads the body's exact bytes into `request.body`, as `readRawBody` does, and takes a slot once it is complete.
 *
 * @throws {Problem} `payload_too_large`, `malformed_body`, or `overloaded` when the account has all the bytes or slots it may have.
 */
export function readBody(admission: Admission, kind: RequestKind, maxBytes: number): RequestHandler {
  return (request, _response, next) => {
    const slot = admission.begin(request, kind, accountOf(request).accountId);
    contextOf(request).slot = slot;
    readRawBody(request, { maxBytes, take: slot.addBytes }, (problem, body) => {
      if (problem) return next(problem);
      const proceed = (hasSlot: boolean) => {
        request.body = body;
        next(hasSlot ? undefined : new Problem('overloaded'));
      };
      const hasSlot = slot.complete();
      if (typeof hasSlot === 'boolean') proceed(hasSlot);
      else void hasSlot.then(proceed);
    });
  };
}
