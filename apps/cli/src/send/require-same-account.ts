import { NotFoundError, type OrdersClient } from '@orders/client';
import { Failure } from '../errors.ts';
import type { Journal } from './journal.ts';
import type { RetryGate } from './retry-gate.ts';

/**
 * Ensures that the journal belongs to this account: with another account's journal, orders would count as sent that this account never
 * received.
 *
 * @throws {Failure}
 */
export async function requireSameAccount(journal: Journal, client: OrdersClient, gate: RetryGate): Promise<void> {
  if (journal.previousBatches().length === 0) return;
  for await (const results of journal.results()) {
    const receiptId = results.map(([, , , outcome]) => outcome).find((outcome) => typeof outcome === 'string');
    if (receiptId === undefined) continue;
    const found = await gate
      .run(() => client.getReceipt(receiptId))
      .catch((error: unknown) => {
        if (!(error instanceof NotFoundError)) throw error;
      });
    if (found) return;
    throw new Failure(
      `The account of this key does not have what ${journal.path} says was sent: give the key of that account, another --journal, or --restart.`,
      { includesNextStep: true },
    );
  }
}
