import type { IncomingMessage } from 'node:http';

/** The header of a webhook's signature (contract, section 6). */
export const SIGNATURE_HEADER = 'x-service-signature';

/** The signature header as it was sent; undefined if it is missing. */
export function readSignature({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  // Node joins repeated headers of this name, so this is never an array.
  return headers[SIGNATURE_HEADER] as string | undefined;
}
