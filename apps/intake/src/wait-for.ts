import type { FinalReceipt } from '@orders/database';
import type { Response } from 'express';
import type { ReceiptWaiters } from './receipt-waiters.ts';

/** Waits before a reply, for as long as somebody is there to hear it. */
export async function waitFor(
  response: Response,
  receiptId: string,
  seconds: number,
  waiters: ReceiptWaiters,
): Promise<FinalReceipt | null> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  response.once('close', leave);
  try {
    return await waiters.wait(receiptId, seconds * 1000, gone.signal);
  } finally {
    response.off('close', leave);
  }
}
