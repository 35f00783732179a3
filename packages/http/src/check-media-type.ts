import type { IncomingMessage } from 'node:http';
import { Problem } from '@orders/domain/problems.ts';

type WithHeaders = Pick<IncomingMessage, 'headers'>;

const MEDIA_TYPE = /^(application\/(?:json|x-ndjson)) *(?:;(.*))?$/i;
const UTF_8 = /^ *charset *= *"?utf-?8"? *$/i;
export const BATCH_TYPES =
  'Send a batch as "Content-Type: application/x-ndjson", one order a line, or "application/json", one array; in UTF-8.';

/**
 * Rejects by its headers a body that is not uncompressed JSON in UTF-8.
 *
 * @throws {Problem} `unsupported_media_type` or `unsupported_content_encoding`.
 */
export function checkJson(request: WithHeaders): void {
  if (mediaTypeOf(request) !== 'application/json') throw new Problem('unsupported_media_type');
  rejectEncoded(request);
}

/** Like `checkJson`, but also accepts NDJSON. */
export function checkJsonOrLines(request: WithHeaders): void {
  if (!mediaTypeOf(request)) throw new Problem('unsupported_media_type', { detail: BATCH_TYPES });
  rejectEncoded(request);
}

/** `application/json` or `application/x-ndjson`; null for any other type or a charset other than UTF-8. */
export function mediaTypeOf({ headers }: WithHeaders): string | null {
  const [, type, parameters] = MEDIA_TYPE.exec(headers['content-type'] ?? '') ?? [];
  const charset = parameters?.split(';').find((parameter) => /^ *charset *=/i.test(parameter));
  return type && !(charset && !UTF_8.test(charset)) ? type.toLowerCase() : null;
}

function rejectEncoded({ headers }: WithHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new Problem('unsupported_content_encoding');
}
