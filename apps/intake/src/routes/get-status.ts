import type { FinalReceipt } from '@orders/database/receipts/find-receipt.ts';
import { Problem } from '@orders/domain/problems.ts';
import { receiptJson } from '@orders/domain/receipt-json.ts';
import { isFinal } from '@orders/domain/receipt-states.ts';
import { readPreferences } from '@orders/http/read-headers.ts';
import type { RequestHandler } from 'express';
import { validate, version } from 'uuid';
import type { ReceiptReader } from '../receipts/receipt-reader.ts';
import { contextOf, senderOf } from '../request-context.ts';
import { type Waiters, waitFor } from './waiters.ts';

/** `GET /ingest/status/{receipt_id}`: the state of one of the account's receipts; with `Prefer: wait=N`, waits until it is final. */
export function getStatus(reader: ReceiptReader, waiters: Waiters<FinalReceipt>): RequestHandler {
  return async (request, response) => {
    const receiptId = String(request.params.receiptId);
    if (!validate(receiptId) || version(receiptId) !== 7) throw new Problem('receipt_not_found');
    const { accountId } = senderOf(request);
    const { wait } = readPreferences(request);
    let receipt = await reader.find(accountId, receiptId);
    if (!receipt) throw new Problem('receipt_not_found');
    contextOf(request).receiptId = receipt.receipt_id;
    if (wait !== null) {
      const isAlreadyFinal = isFinal(receipt.state);
      const waited = isAlreadyFinal || (await waitFor(waiters, response, receipt.receipt_id, wait));
      if (waited) response.set('Preference-Applied', `wait=${wait}`);
      if (!isAlreadyFinal) receipt = (await reader.find(accountId, receiptId)) ?? receipt;
    }
    response.json(receiptJson(receipt));
  };
}
