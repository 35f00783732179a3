import { randomUUIDv7 } from 'node:crypto';
import type { Channel } from '@orders/domain';
import { type Preferences, readIdempotencyKey, readPreferences, writeAccepted } from '@orders/http';
import { type Logger, withSpan } from '@orders/runtime';
import type { Request, RequestHandler, Response } from 'express';
import type { IntakeMetrics } from '../observability/metrics.ts';
import type { Parser } from '../parsing/parser.ts';
import type { ReceiptReader } from '../receipts/receipt-reader.ts';
import type { ReceiptWaiters } from '../receipts/receipt-waiters.ts';
import type { ReceiptWriter, Recorded } from '../receipts/receipt-writer.ts';
import { accountOf, callerOf, contextOf, logFields } from '../request-context.ts';
import { waitForReceipt } from './wait-for-receipt.ts';

interface Deps {
  parser: Parser;
  reader: ReceiptReader;
  writer: ReceiptWriter;
  waiters: ReceiptWaiters;
  metrics: Pick<IntakeMetrics, 'acceptSeconds' | 'mismatches'>;
  logger: Logger;
  basePath: string;
}

/** `POST /ingest/orders` and `/ingest/webhook`: replies 202 once the order's receipt is durable. */
export function postOrder(channel: Channel, deps: Deps): RequestHandler {
  return async (request, response) => {
    const idempotencyKey = readIdempotencyKey(request);
    const preferences = readPreferences(request);
    if (preferences.handling === 'strict') response.set('Preference-Applied', 'handling=strict');
    const { slot, startedAt } = contextOf(request);
    const recorded = await slot.holdUntil(() => record(request, channel, idempotencyKey, preferences, deps));
    deps.metrics.acceptSeconds.observe((performance.now() - startedAt) / 1000);
    reportMismatch(request, recorded, deps);
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
  { parser, writer }: Deps,
): Promise<Recorded> {
  const { accountId } = accountOf(request);
  const context = contextOf(request);
  const { span } = context;
  const { body } = request;
  const read = parser.run(callerOf(request), 'readOrder', body, { strict: handling === 'strict' });
  const sourceOrderId = typeof read === 'string' ? read : await read;
  request.body = undefined;
  context.receiptId = randomUUIDv7();
  const receipt = { receiptId: context.receiptId, accountId, channel, sourceOrderId, idempotencyKey, body };
  return withSpan(span?.begin('record receipt'), () => writer.record(receipt, span));
}

function reportMismatch(request: Request, recorded: Recorded, deps: Deps): void {
  const context = contextOf(request);
  context.receiptId = recorded.receiptId;
  const { kept } = recorded;
  if (!kept) return;
  deps.metrics.mismatches.inc({ kept_as: kept.as });
  deps.logger.warn('idempotency key repeated with another payload', {
    ...logFields(context),
    kept_receipt_id: kept.receiptId,
    kept_as: kept.as,
  });
}

/** The receipt's state after the wait; null if there was no wait or Postgres failed: the order is accepted anyway. */
async function waitForOutcome(seconds: number, response: Response, receiptId: string, deps: Deps) {
  try {
    const waited = await waitForReceipt(response, receiptId, seconds, deps.waiters);
    if (!waited) return null;
    if (waited.final) return { status: waited.final.state, order_id: waited.final.order_id };
    const receipt = await deps.reader.find(accountOf(response.req).accountId, receiptId);
    return receipt && { status: receipt.state, order_id: receipt.order_id };
  } catch {
    return null;
  }
}
