import { randomUUIDv7 } from 'node:crypto';
import type { FinalReceipt } from '@orders/database/receipts/find-receipt.ts';
import type { Channel } from '@orders/domain/receipt-states.ts';
import { type Preferences, readIdempotencyKey, readPreferences } from '@orders/http/read-headers.ts';
import { writeAccepted } from '@orders/http/write-accepted.ts';
import type { Request, RequestHandler, Response } from 'express';
import type { Parser } from '../parsing/parser.ts';
import type { ReceiptReader } from '../receipts/receipt-reader.ts';
import type { Recorded } from '../receipts/receipt-writer.ts';
import { type Waiters, waitFor } from '../receipts/waiters.ts';
import { callerOf, contextOf, senderOf } from '../request-context.ts';
import { type RecordDeps, recordOrder } from './record-order.ts';

interface Deps extends RecordDeps {
  parser: Parser;
  reader: ReceiptReader;
  waiters: Waiters<FinalReceipt>;
  basePath: string;
}

/** `POST /ingest/orders` and `/ingest/webhook`: replies 202 once the order's receipt is durable. */
export function postOrder(channel: Channel, deps: Deps): RequestHandler {
  return async (request, response) => {
    const idempotencyKey = readIdempotencyKey(request);
    const preferences = readPreferences(request);
    if (preferences.handling === 'strict') response.set('Preference-Applied', 'handling=strict');
    const { slot } = contextOf(request);
    const recorded = await slot.holdUntil(() => record(request, channel, idempotencyKey, preferences, deps));
    const { wait } = preferences;
    const outcome = wait === null ? null : await waitForOutcome(wait, response, recorded.receiptId, deps);
    writeAccepted(response, recorded, { basePath: deps.basePath, preferences, outcome });
  };
}

/** Removes the body from the request, so that a reply that waits for the outcome does not keep it in memory. */
async function record(
  request: Request,
  channel: Channel,
  idempotencyKey: string | null,
  { handling }: Preferences,
  deps: Deps,
): Promise<Recorded> {
  const { accountId } = senderOf(request);
  const { body } = request;
  const read = deps.parser.run(callerOf(request), 'readOrder', body, { strict: handling === 'strict' });
  const sourceOrderId = typeof read === 'string' ? read : await read;
  request.body = undefined;
  const receipt = { receiptId: randomUUIDv7(), accountId, channel, sourceOrderId, idempotencyKey, body };
  return recordOrder(request, receipt, deps);
}

/** The receipt's state after the wait; null if there was no wait or Postgres failed: the order is accepted anyway. */
async function waitForOutcome(seconds: number, response: Response, receiptId: string, deps: Deps) {
  try {
    const waited = await waitFor(deps.waiters, response, receiptId, seconds);
    if (!waited) return null;
    if (waited.result) return { status: waited.result.state, order_id: waited.result.order_id };
    const receipt = await deps.reader.find(senderOf(response.req).accountId, receiptId);
    return receipt && { status: receipt.state, order_id: receipt.order_id };
  } catch {
    return null;
  }
}
