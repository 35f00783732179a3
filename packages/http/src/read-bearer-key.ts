import type { IncomingMessage } from 'node:http';
import { isApiKey, Problem } from '@orders/domain';

const BEARER = /^bearer +(\S+) *$/i;

/**
 * The API key of the Authorization header (RFC 6750).
 *
 * @throws {Problem} `missing_api_key`, or `invalid_api_key` if it is malformed.
 */
export function readBearerKey({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const key = BEARER.exec(headers.authorization ?? '')?.[1];
  if (!key) throw new Problem('missing_api_key');
  if (!isApiKey(key)) throw new Problem('invalid_api_key');
  return key;
}
