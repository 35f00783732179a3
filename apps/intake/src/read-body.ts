import { Problem } from '@orders/domain';
import { collectBody } from '@orders/http';
import type { RequestHandler } from 'express';

const JSON_TYPE = /^application\/json *(?:;(.*))?$/i;
const UTF_8 = /^ *charset *= *"?utf-?8"? *$/i;

/** Refuses what is not JSON in UTF-8, or is compressed, before reading it. */
export const requireJson: RequestHandler = (request, _response, next) => {
  const type = JSON_TYPE.exec(request.get('content-type') ?? '');
  const charset = type?.[1]?.split(';').find((parameter) => /^ *charset *=/i.test(parameter));
  if (!type || (charset && !UTF_8.test(charset))) throw new Problem('unsupported_media_type');
  const encoding = request.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new Problem('unsupported_content_encoding');
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
