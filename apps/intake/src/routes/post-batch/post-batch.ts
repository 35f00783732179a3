import { randomUUIDv7 } from 'node:crypto';
import { faultOf } from '@orders/database';
import { Problem } from '@orders/domain';
import { acceptedJson, mediaTypeOf, readIdempotencyKey, readPreferences } from '@orders/http';
import { type Logger, type TimeSlicer, withSpan } from '@orders/runtime';
import type { Request, RequestHandler } from 'express';
import type { IntakeMetrics } from '../../observability/metrics.ts';
import type { Parser } from '../../parsing/parser.ts';
import type { RateLimits } from '../../pipeline/limit-rate.ts';
import type { ReceiptWriter, Recorded } from '../../receipts/receipt-writer.ts';
import type { RejectionLog } from '../../rejections/rejection-log.ts';
import { accountOf, callerOf, contextOf, logFields } from '../../request-context.ts';
import { type ReadOrder, readOrders } from './read-orders.ts';

interface Deps {
  parser: Parser;
  slicer: TimeSlicer;
  writer: ReceiptWriter;
  rateLimits: RateLimits;
  rejections: RejectionLog;
  metrics: Pick<IntakeMetrics, 'mismatches' | 'refusedOfBatches'>;
  logger: Logger;
  /** Of one order. */
  maxBytes: number;
}

/** Mismatches of a batch that the log names; the others are counted. */
const MAX_LOGGED = 20;

/** Accepts the orders of a batch: 202 once each that is not refused has a durable receipt, with a result for every one. */
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
      const reading = {
        caller: callerOf(request),
        strict: handling === 'strict',
        maxBytes,
        slicer,
        parser,
      };
      const orders = await readOrders(kind, request.body, reading);
      await rateLimits.charge(request, response, orders.length);
      const receipts = receiptsOf(request, orders, idempotencyKey);
      const results = await withSpan(span?.begin('record receipts'), () => writer.recordAll(receipts, span));
      const next = results.values();
      return orders.map((order) => ('problem' in order ? order : outcomeOf(next.next().value)));
    });

    const refused = recorded.filter((one) => 'problem' in one);
    for (const { problem, body } of refused) {
      metrics.refusedOfBatches.inc({ code: problem.code });
      if (body) rejections.note(request, problem, body);
    }
    const mismatched = recorded.flatMap((one) => ('receiptId' in one && one.kept ? [{ ...one, kept: one.kept }] : []));
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

/** Of the orders that are not refused. Their ids ascend with them: of two with one `source_order_id` the first was received first. */
function receiptsOf(request: Request, orders: readonly ReadOrder[], idempotencyKey: string | null) {
  const { accountId } = accountOf(request);
  const ids = orders.map(() => randomUUIDv7()).sort();
  return orders.flatMap((order, index) =>
    'problem' in order
      ? []
      : {
          receiptId: ids[index] as string,
          accountId,
          channel: 'rest' as const,
          sourceOrderId: order.sourceOrderId,
          // The blank cannot stand in a key that a client gives.
          idempotencyKey: idempotencyKey === null ? null : `${idempotencyKey} ${index}`,
          body: order.body,
        },
  );
}

type Outcome = Recorded | { problem: Problem; body?: Buffer };

/** @throws what kept a receipt from being stored, unless it is the fault of this one alone. */
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
