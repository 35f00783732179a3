import type { IncomingMessage } from 'node:http';
import { Problem } from '@orders/domain';

const JSON_TYPE = /^application\/json *(?:;(.*))?$/i;
const UTF_8 = /^ *charset *= *"?utf-?8"? *$/i;

/**
 * Refuses by its headers what is not JSON in UTF-8, or is compressed.
 *
 * @throws {Problem} `unsupported_media_type` or `unsupported_content_encoding`.
 */
export function requireJson({ headers }: Pick<IncomingMessage, 'headers'>): void {
  const type = JSON_TYPE.exec(headers['content-type'] ?? '');
  const charset = type?.[1]?.split(';').find((parameter) => /^ *charset *=/i.test(parameter));
  if (!type || (charset && !UTF_8.test(charset))) throw new Problem('unsupported_media_type');
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw new Problem('unsupported_content_encoding');
}
