import { isFinal, Problem, receiptJson } from '@orders/domain';
import { readPreferences } from '@orders/http';
import type { RequestHandler } from 'express';
import { validate, version } from 'uuid';
import { contextOf, holderOf } from './context.ts';
import type { ReceiptReader } from './receipt-reader.ts';
import type { ReceiptWaiters } from './receipt-waiters.ts';
import { waitFor } from './wait-for.ts';

/** Tells an account what became of one of its receipts; with `Prefer: wait=N`, once that is decided. */
export function showStatus(reader: ReceiptReader, waiters: ReceiptWaiters): RequestHandler {
  return async (request, response) => {
    const receiptId = String(request.params.receiptId);
    if (!validate(receiptId) || version(receiptId) !== 7) throw new Problem('receipt_not_found');
    const { accountId } = holderOf(request);
    const { wait } = readPreferences(request);
    let receipt = await reader.find(accountId, receiptId);
    if (!receipt) throw new Problem('receipt_not_found');
    contextOf(request).receiptId = receipt.receipt_id;
    if (wait !== null) {
      response.set('Preference-Applied', `wait=${wait}`);
      if (!isFinal(receipt.state)) {
        await waitFor(response, receipt.receipt_id, wait, waiters);
        receipt = (await reader.find(accountId, receiptId)) ?? receipt;
      }
    }
    response.json(receiptJson(receipt));
  };
}
