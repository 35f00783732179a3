import { Problem } from '@orders/domain/problems.ts';
import { checkJson, checkJsonOrLines } from '@orders/http/check-media-type.ts';
import { readRawBody } from '@orders/http/read-raw-body.ts';
import type { RequestHandler } from 'express';
import type { Admission, RequestKind } from '../admission/admission.ts';
import { ClientDisconnected } from '../parsing/parser.ts';
import { contextOf, senderOf } from '../request-context.ts';

/** Rejects a body that is not uncompressed JSON in UTF-8, before it is read. */
export const requireJson: RequestHandler = (request, _response, next) => {
  checkJson(request);
  next();
};

/** Like `requireJson`, but also accepts NDJSON. */
export const requireJsonOrLines: RequestHandler = (request, _response, next) => {
  checkJsonOrLines(request);
  next();
};

/**
 * Reads the exact bytes of the body into `request.body` and acquires a slot once it is complete.
 *
 * @throws {Problem} `payload_too_large`, `malformed_body`, or `overloaded` if the account has all its bytes or slots.
 */
export function readBody(admission: Admission, kind: RequestKind, maxBytes: number): RequestHandler {
  return (request, _response, next) => {
    const slot = admission.beginUpload(request, kind, senderOf(request).accountId);
    contextOf(request).slot = slot;
    readRawBody(request, { maxBytes, reserveBytes: slot.addBytes }, (problem, body) => {
      if (problem) return next(problem);
      const proceed = (hasSlot: boolean) => {
        request.body = body;
        if (hasSlot) next();
        else next(request.socket.destroyed ? new ClientDisconnected() : new Problem('overloaded'));
      };
      const hasSlot = slot.acquire();
      if (typeof hasSlot === 'boolean') proceed(hasSlot);
      else void hasSlot.then(proceed);
    });
  };
}
