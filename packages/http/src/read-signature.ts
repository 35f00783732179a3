import type { IncomingMessage } from 'node:http';

/** The header that a webhook is signed in (contract, section 6). */
export const SIGNATURE_HEADER = 'x-service-signature';

/** What it holds, as it came; undefined where it is missing. */
export function readSignature({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  // Node joins what comes more than once, so of a header of this name there is no list.
  return headers[SIGNATURE_HEADER] as string | undefined;
}
