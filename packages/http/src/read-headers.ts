import type { IncomingMessage } from 'node:http';
import { isApiKey } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';

type WithHeaders = Pick<IncomingMessage, 'headers'>;

const BEARER = /^bearer +(\S+) *$/i;

/**
 * The API key of the Authorization header (RFC 6750).
 *
 * @throws {Problem} `missing_api_key`, or `invalid_api_key` if it is malformed.
 */
export function readBearerKey({ headers }: WithHeaders): string {
  const key = BEARER.exec(headers.authorization ?? '')?.[1];
  if (!key) throw new Problem('missing_api_key');
  if (!isApiKey(key)) throw new Problem('invalid_api_key');
  return key;
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * The `Idempotency-Key` header, or null if there is none: 1 to 255 visible ASCII characters, compared exactly (contract, section 2).
 *
 * @throws {Problem} `invalid_idempotency_key`.
 */
export function readIdempotencyKey({ headers }: WithHeaders): string | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) throw new Problem('invalid_idempotency_key');
  return key;
}

const MAX_WAIT_SECONDS = 30;

/** The supported preferences of a client (RFC 7240). */
export interface Preferences {
  /** Whole seconds, capped at 30; null if the client does not want to wait. */
  wait: number | null;
  handling: 'lenient' | 'strict' | null;
}

/** Reads the `Prefer` header: the first of a repeated preference counts, unknown ones are ignored. */
export function readPreferences({ headers }: WithHeaders): Preferences {
  const preferences: Preferences = { wait: null, handling: null };
  for (const preference of String(headers.prefer ?? '').split(',')) {
    const [, name, value] = /^\s*(\w+)\s*=\s*"?(\w+)"?\s*(?:;.*)?$/.exec(preference) ?? [];
    if (name?.toLowerCase() === 'wait' && /^\d{1,9}$/.test(value ?? '')) {
      preferences.wait ??= Math.min(Number(value), MAX_WAIT_SECONDS);
    }
    if (name?.toLowerCase() === 'handling' && (value === 'lenient' || value === 'strict'))
      preferences.handling ??= value;
  }
  return preferences;
}

/** The header of a webhook's signature (contract, section 6). */
export const SIGNATURE_HEADER = 'x-service-signature';

/** The signature header as it was sent; undefined if it is missing. */
export function readSignature({ headers }: WithHeaders): string | undefined {
  // Node joins repeated headers of this name, so this is never an array.
  return headers[SIGNATURE_HEADER] as string | undefined;
}
