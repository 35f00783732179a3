import { createHash } from 'node:crypto';

/** How orders are sent. Orders sent in another way have other keys. */
export interface Way {
  strict: boolean;
  /** Whether each order is a signed request of its own. */
  webhook: boolean;
  /** How often the orders failed before: a dead order in a file of failures needs a new receipt, even if nothing else changed. */
  round: number;
}

/**
 * The idempotency key of a request follows from its content and position, so that the same file sent again replays the receipts of what
 * arrived. For the same reason the service never has the key with other content.
 *
 * @param texts JSON of the orders.
 * @param firstPosition of the first order in the file, from 1.
 */
export function batchKey(texts: readonly string[], firstPosition: number, { strict, webhook, round }: Way): string {
  const hash = createHash('sha256').update(`${JSON.stringify([strict, webhook, round, firstPosition])}\n`);
  return `send-${hash.update(texts.join('\n')).digest('base64url')}`;
}
