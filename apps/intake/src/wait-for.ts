import type { FinalReceipt } from '@orders/database';
import type { Request } from 'express';
import type { ReceiptWaiters } from './receipt-waiters.ts';

/** Waits on behalf of a request, for as long as its client is there. */
export async function waitFor(
  request: Request,
  receiptId: string,
  seconds: number,
  waiters: ReceiptWaiters,
): Promise<FinalReceipt | null> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  request.socket.once('close', leave);
  try {
    return await waiters.wait(receiptId, seconds * 1000, gone.signal);
  } finally {
    request.socket.off('close', leave);
  }
}
