import { randomUUIDv7 } from 'node:crypto';
import { faultOf } from '@orders/database/database-errors.ts';
import { MAX_BATCH_ERRORS, MAX_BATCH_ORDERS } from '@orders/domain/interface-limits.ts';
import { Problem } from '@orders/domain/problems.ts';
import { mediaTypeOf } from '@orders/http/check-media-type.ts';
import { readIdempotencyKey, readPreferences } from '@orders/http/read-headers.ts';
import { acceptedJson } from '@orders/http/write-accepted.ts';
import type { TimeSlicer } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { withSpan } from '@orders/runtime/observability/tracing.ts';
import type { Request, RequestHandler } from 'express';
import type { IntakeMetrics } from '../../observability/metrics.ts';
import type { Caller, Parser } from '../../parsing/parser.ts';
import type { RateLimits } from '../../pipeline/limit-rate.ts';
import type { ReceiptWriter, Recorded } from '../../receipts/receipt-writer.ts';
import type { RejectionLog } from '../../rejections/rejection-log.ts';
import { callerOf, contextOf, logFields, senderOf } from '../../request-context.ts';
import { splitArray, splitLines } from './split-batch.ts';

/** An order of a batch, or why it is rejected. */
type ReadOrder = { sourceOrderId: string; body: Buffer } | { problem: Problem; body: Buffer };

interface ReadOptions {
  caller: Caller;
  strict: boolean;
  /** Max bytes of one order. */
  maxBytes: number;
  slicer: TimeSlicer;
  parser: Parser;
}

/**
 * Reads and validates each order of a batch as if it had been sent alone. Their bodies are slices of the batch's memory. Short orders
 * are read in time slices on the event loop, longer ones in the parsing thread.
 *
 * @param kind `lines` (NDJSON) or one JSON `array`.
 * @throws {Problem} `malformed_body` if there is no order or the array is not JSON; `payload_too_large` for more than `MAX_BATCH_ORDERS`
 * orders, or an element of an array that is too long to parse.
 */
async function readOrders(kind: 'lines' | 'array', batch: Buffer, options: ReadOptions): Promise<ReadOrder[]> {
  const { maxBytes, slicer } = options;
  const { accountId } = options.caller;
  const orders: ReadOrder[] = [];
  let isSliceOver = await slicer.next(accountId);
  for (const body of kind === 'lines' ? splitLines(batch) : splitArray(batch, MAX_ELEMENT_FACTOR * maxBytes)) {
    if (orders.length === MAX_BATCH_ORDERS) throw new Problem('payload_too_large', { detail: TOO_MANY });
    const order = await readOrder(body, options);
    if (kind === 'array' && 'problem' in order) await rejectArrayUnlessJson(order, orders.length, options);
    orders.push(order);
    if (isSliceOver()) isSliceOver = await slicer.next(accountId);
  }
  if (orders.length === 0) throw new Problem('malformed_body', { detail: 'The body holds no order.' });
  return orders;
}

/** An element above the max order size is rejected, but up to this multiple of it still parsed, to know whether the array is JSON. */
const MAX_ELEMENT_FACTOR = 4;
const TOO_MANY = `A batch is at most ${MAX_BATCH_ORDERS} orders.`;

async function readOrder(body: Buffer, { caller, strict, maxBytes, parser }: ReadOptions): Promise<ReadOrder> {
  try {
    if (body.length > maxBytes) {
      const detail = `The order is over ${maxBytes} bytes, the most this service accepts.`;
      throw new Problem('payload_too_large', { detail });
    }
    return { sourceOrderId: await parser.run(caller, 'readOrder', body, { strict }), body };
  } catch (error) {
    if (error instanceof Problem) return { problem: withCappedErrors(error), body };
    throw error;
  }
}

/** A thousand orders with a thousand errors each would take more memory than the rest of the batch. */
function withCappedErrors(problem: Problem): Problem {
  const { code, detail, errors } = problem;
  if (!errors || errors.length <= MAX_BATCH_ERRORS) return problem;
  return new Problem(code, { detail, errors: errors.slice(0, MAX_BATCH_ERRORS) });
}

/**
 * Rejects the whole array if one element is not JSON, as the boundaries of the elements are then unreliable: two missing quotes merge all
 * orders between them into one element.
 */
async function rejectArrayUnlessJson(
  { problem, body }: { problem: Problem; body: Buffer },
  index: number,
  { caller, parser }: ReadOptions,
): Promise<void> {
  if (problem.code === 'validation_failed') return;
  if (!(await parser.run(caller, 'isJson', body))) {
    throw new Problem('malformed_body', { detail: `The body is not JSON: see element ${index} of its array.` });
  }
}

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
    if (!senderOf(request).isTest) for (const { kept } of mismatched) metrics.mismatches.inc({ kept_as: kept.as });
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
