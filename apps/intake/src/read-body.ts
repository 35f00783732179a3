import { Problem } from '@orders/domain';
import type { Request, RequestHandler } from 'express';

const MEDIA_TYPE = /^(application\/(?:json|x-ndjson)) *(?:;(.*))?$/i;
const UTF_8 = /^ *charset *= *"?utf-?8"? *$/i;
const BATCH_TYPES =
  'Send a batch as "Content-Type: application/x-ndjson", one order a line, or "application/json", one array; in UTF-8.';
const CUT_SHORT = 'The body ended before its announced length.';

/** Refuses what is not JSON in UTF-8, or is compressed, before reading it. */
export const requireJson: RequestHandler = (request, _response, next) => {
  if (mediaTypeOf(request) !== 'application/json') throw new Problem('unsupported_media_type');
  refuseEncoded(request);
  next();
};

/** The same for a batch, which may also be lines of JSON. */
export const requireJsonOrLines: RequestHandler = (request, _response, next) => {
  if (!mediaTypeOf(request)) throw new Problem('unsupported_media_type', { detail: BATCH_TYPES });
  refuseEncoded(request);
  next();
};

/** `application/json` or `application/x-ndjson`; null for any other type, and for either in another charset than UTF-8. */
export function mediaTypeOf(request: Request): string | null {
  const [, type, parameters] = MEDIA_TYPE.exec(request.get('content-type') ?? '') ?? [];
  const charset = parameters?.split(';').find((parameter) => /^ *charset *=/i.test(parameter));
  return type && !(charset && !UTF_8.test(charset)) ? type.toLowerCase() : null;
}

function refuseEncoded(request: Request): void {
  const encoding = request.get('content-encoding') ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new Problem('unsupported_content_encoding');
}

/**
 * Reads the body's exact bytes into `request.body`; an absent body is empty. One that is too long is refused as soon as that is known;
 * what still comes of it is read and thrown away, so that its sender lives to see the reply.
 *
 * @throws {Problem} `payload_too_large`, or `malformed_body` when it ends before its announced length.
 */
export function readBody(maxBytes: number): RequestHandler {
  const detail = `The body is over ${maxBytes} bytes, the most this service accepts.`;
  return (request, _response, next) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let isOver = false;
    const finish = (problem?: Problem) => {
      if (isOver) return;
      isOver = true;
      if (problem) next(problem);
      else {
        request.body = Buffer.concat(chunks, size);
        next();
      }
    };
    const refuse = () => finish(new Problem('payload_too_large', { detail }));
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) refuse();
      else if (!isOver) chunks.push(chunk);
    });
    request.on('end', () => finish());
    request.on('close', () => {
      if (!isOver) finish(new Problem('malformed_body', { detail: CUT_SHORT }));
    });
    if (Number(request.get('content-length')) > maxBytes) refuse();
    // One whose connection broke before this point tells nobody any more.
    if (request.destroyed) finish(new Problem('malformed_body', { detail: CUT_SHORT }));
  };
}
