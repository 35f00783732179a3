import { randomUUIDv7 } from 'node:crypto';
import type { FinalReceipt } from '@orders/database/receipts/find-receipt.ts';
import type { IncomingReceipt } from '@orders/database/receipts/record-receipts.ts';
import type { Channel } from '@orders/domain/receipt-states.ts';
import { type Preferences, readIdempotencyKey, readPreferences } from '@orders/http/read-headers.ts';
import { writeAccepted } from '@orders/http/write-accepted.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { withSpan } from '@orders/runtime/observability/tracing.ts';
import type { Request, RequestHandler, Response } from 'express';
import type { IntakeMetrics } from '../observability/metrics.ts';
import type { Parser } from '../parsing/parser.ts';
import type { ReceiptReader } from '../receipts/receipt-reader.ts';
import type { ReceiptWriter, Recorded } from '../receipts/receipt-writer.ts';
import { callerOf, contextOf, logFields, senderOf } from '../request-context.ts';
import { type Waiters, waitFor } from './waiters.ts';

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

export interface RecordDeps {
  writer: ReceiptWriter;
  metrics: Pick<IntakeMetrics, 'acceptSeconds' | 'mismatches'>;
  logger: Logger;
}

/** Makes the receipt of an accepted order durable. Logs a repeated idempotency key with another payload, and counts it unless it is of a test account. */
export async function recordOrder(request: Request, receipt: IncomingReceipt, deps: RecordDeps): Promise<Recorded> {
  const context = contextOf(request);
  const { span, startedAt } = context;
  context.receiptId = receipt.receiptId;
  const recorded = await withSpan(span?.begin('record receipt'), () => deps.writer.record(receipt, span));
  deps.metrics.acceptSeconds.observe((performance.now() - startedAt) / 1000);
  context.receiptId = recorded.receiptId;
  const { kept } = recorded;
  if (kept) {
    if (!senderOf(request).isTest) deps.metrics.mismatches.inc({ kept_as: kept.as });
    deps.logger.warn('idempotency key repeated with another payload', {
      ...logFields(context),
      kept_receipt_id: kept.receiptId,
      kept_as: kept.as,
    });
  }
  return recorded;
}
