import type { Response } from 'express';
import type { ReceiptWaiters, Waited } from '../receipts/receipt-waiters.ts';
import { senderOf } from '../request-context.ts';

/** Waits until the receipt is final, `seconds` are over or the client disconnects; see `ReceiptWaiters`. */
export async function waitForReceipt(
  response: Response,
  receiptId: string,
  seconds: number,
  waiters: ReceiptWaiters,
): Promise<Waited | null> {
  const disconnected = new AbortController();
  const abort = () => disconnected.abort();
  response.once('close', abort);
  try {
    return await waiters.wait(senderOf(response.req).accountId, receiptId, seconds * 1000, disconnected.signal);
  } finally {
    response.off('close', abort);
  }
}
