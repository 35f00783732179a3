import { Problem } from '@orders/domain';
import express, { type RequestHandler } from 'express';

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

/**
 * Reads the body's exact bytes into `request.body`; an absent body is empty.
 *
 * @param maxBytes a longer one is refused as soon as that is known.
 * @throws {Problem} `payload_too_large`, or `malformed_body` when it ends before its announced length.
 */
export function readBody(maxBytes: number): RequestHandler {
  const read = express.raw({ type: () => true, limit: maxBytes, inflate: false });
  return (request, response, next) => {
    read(request, response, (error?: unknown) => {
      request.body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const kind = (error as { type?: string } | undefined)?.type;
      if (kind === 'entity.too.large') {
        next(
          new Problem('payload_too_large', {
            detail: `The body is over ${maxBytes} bytes, the most this service accepts.`,
          }),
        );
      } else if (kind === 'request.aborted' || kind === 'request.size.invalid') {
        next(new Problem('malformed_body', { detail: 'The body ended before its announced length.' }));
      } else next(error);
    });
  };
}
