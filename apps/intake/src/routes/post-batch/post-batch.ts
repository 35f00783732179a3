import { randomUUIDv7 } from 'node:crypto';
import { faultOf } from '@orders/database/database-errors.ts';
import { Problem } from '@orders/domain/problems.ts';
import { mediaTypeOf } from '@orders/http/check-media-type.ts';
import { readIdempotencyKey, readPreferences } from '@orders/http/read-headers.ts';
import { acceptedJson } from '@orders/http/write-accepted.ts';
import type { TimeSlicer } from '@orders/runtime/concurrency/time-slicer.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { withSpan } from '@orders/runtime/observability/tracing.ts';
import type { Request, RequestHandler } from 'express';
import type { IntakeMetrics } from '../../observability/metrics.ts';
import type { Parser } from '../../parsing/parser.ts';
import type { RateLimits } from '../../pipeline/limit-rate.ts';
import type { ReceiptWriter, Recorded } from '../../receipts/receipt-writer.ts';
import type { RejectionLog } from '../../rejections/rejection-log.ts';
import { callerOf, contextOf, logFields, senderOf } from '../../request-context.ts';
import { type ReadOrder, readOrders } from './read-orders.ts';

interface Deps {
  parser: Parser;
  slicer: TimeSlicer;
  writer: ReceiptWriter;
  rateLimits: RateLimits;
  rejections: RejectionLog;
  metrics: Pick<IntakeMetrics, 'mismatches' | 'rejectedBatchOrders'>;
  logger: Logger;
  /** Max bytes of one order. */
  maxBytes: number;
}

/** Max mismatches listed in a batch's log line; `orders` counts all of them. */
const MAX_LOGGED = 20;

/** `POST /ingest/orders/batch`: replies 202 with one result per order, once each order is rejected or has a durable receipt. */
export function postBatch(deps: Deps): RequestHandler {
  const { parser, slicer, writer, rateLimits, rejections, metrics, logger, maxBytes } = deps;
  return async (request, response) => {
    const idempotencyKey = readIdempotencyKey(request);
    const { handling } = readPreferences(request);
    if (handling) response.set('Preference-Applied', `handling=${handling}`);
    const kind = mediaTypeOf(request) === 'application/json' ? 'array' : 'lines';
    const context = contextOf(request);
    const { span } = context;

    const recorded = await context.slot.holdUntil(async () => {
      const orders = await readOrders(kind, request.body, {
        caller: callerOf(request),
        strict: handling === 'strict',
        maxBytes,
        slicer,
        parser,
      });
      await rateLimits.charge(request, response, orders.length);
      const receipts = receiptsOf(request, orders, idempotencyKey);
      const results = await withSpan(span?.begin('record receipts'), () => writer.recordAll(receipts, span));
      // One result per order that was not rejected, in the same order.
      const remaining = results.values();
      return orders.map((order) => ('problem' in order ? order : outcomeOf(remaining.next().value)));
    });

    const refused = recorded.filter((outcome) => 'problem' in outcome);
    for (const { problem, body } of refused) {
      metrics.rejectedBatchOrders.inc({ code: problem.code });
      if (body) rejections.note(request, problem, body);
    }
    const mismatched = recorded.flatMap((outcome) =>
      'receiptId' in outcome && outcome.kept ? { receiptId: outcome.receiptId, kept: outcome.kept } : [],
    );
    for (const { kept } of mismatched) metrics.mismatches.inc({ kept_as: kept.as });
    if (mismatched.length > 0) {
      logger.warn('idempotency keys repeated with other payloads', {
        ...logFields(context),
        orders: mismatched.length,
        kept: mismatched.slice(0, MAX_LOGGED).map(({ receiptId, kept }) => ({
          receipt_id: receiptId,
          kept_receipt_id: kept.receiptId,
          kept_as: kept.as,
        })),
      });
    }
    context.batch = { orders: recorded.length, refused: refused.length };
    response.statusCode = 202;
    response.setHeader('Content-Type', 'application/json; charset=utf-8').end(
      JSON.stringify({
        accepted: recorded.length - refused.length - mismatched.length,
        refused: refused.length,
        mismatched: mismatched.length,
        results: recorded.map(resultOf),
      }),
    );
  };
}

/** Receipts of the orders that were not rejected, with ascending ids: of two with the same `source_order_id` the first comes first. */
function receiptsOf(request: Request, orders: readonly ReadOrder[], idempotencyKey: string | null) {
  const { accountId } = senderOf(request);
  const ids = orders.map(() => randomUUIDv7()).sort();
  return orders.flatMap((order, index) =>
    'problem' in order
      ? []
      : {
          receiptId: ids[index] as string,
          accountId,
          channel: 'rest' as const,
          sourceOrderId: order.sourceOrderId,
          // A client's key cannot contain a space, so this never collides with one.
          idempotencyKey: idempotencyKey === null ? null : `${idempotencyKey} ${index}`,
          body: order.body,
        },
  );
}

type Outcome = Recorded | { problem: Problem; body?: Buffer };

/** @throws the error of a receipt that was not stored, unless only this receipt caused it. */
function outcomeOf(result: PromiseSettledResult<Recorded> | undefined): Outcome {
  if (result?.status === 'fulfilled') return result.value;
  if (faultOf(result?.reason) === 'receipt') return { problem: new Problem('internal_error') };
  throw result?.reason;
}

function resultOf(outcome: Outcome): object {
  if ('problem' in outcome) {
    const { status, code, detail, errors } = outcome.problem;
    return { error: { status, code, detail, ...(errors && { errors }) } };
  }
  return acceptedJson(outcome);
}
