import { findAccount } from '@orders/database/accounts/accounts.ts';
import { inTransaction } from '@orders/database/run.ts';
import { DEFAULT_MAX_BODY_BYTES, MAX_BATCH_ERRORS, MAX_BATCH_ORDERS } from '@orders/domain/interface-limits.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { parseBody } from '@orders/domain/parse-body.ts';
import { Problem } from '@orders/domain/problems.ts';
import { validateOrder } from '@orders/domain/validate-order.ts';
import { batchKey } from '@orders/order-files/batch-key.ts';
import type { Rejection } from '@orders/order-files/read-order.ts';
import { createTimeSlicer } from '@orders/runtime/concurrency/fair-sharing.ts';
import { type RequestHandler, Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { limitConcurrencyPerAccount } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';
import { findOutcomes } from './find-outcomes.ts';
import { recordOrders } from './record-orders.ts';

const MAX_PREVIEWED = 20;
/** What the page sends a file with; the same as of `orders send`, so that a file sent in both ways has the same idempotency keys. */
const WAY = { strict: false, webhook: false, round: 0 };

const texts = (max: number) => Joi.array().items(Joi.string()).min(1).max(max).required();

/** One of an account's uploads may be slow; more of them would keep others' memory. */
const MAX_CONCURRENT = 2;

/**
 * Lets an account have few requests with orders at a time, before their bodies are read.
 *
 * @throws {Problem} `rate_limited`.
 */
export function limitUploads(): RequestHandler {
  const limit = limitConcurrencyPerAccount(MAX_CONCURRENT);
  return (request, response, next) =>
    limit(accountIdOf(request), () => {
      const closed = new Promise<void>((resolve) => response.once('close', resolve));
      next();
      return closed;
    });
}

/**
 * `/uploads`: orders of a file, which the page has read and cut into batches: what the first ones become, sending a batch, and the outcomes.
 * From the receipt on they are processed as any order. A batch that is sent again is replayed.
 */
export function uploadRoutes({ database, runLong, runShort }: PortalDeps): Router {
  const slicer = createTimeSlicer();
  const router = Router();

  /** Runs `read` for each order in time slices; a problem of one rejects that order alone. */
  async function readEach<Result>(accountId: number, orders: readonly string[], read: (order: Buffer) => Result) {
    const results: (Result | { error: Rejection })[] = [];
    let isSliceOver = await slicer.next(accountId);
    for (const order of orders) {
      if (isSliceOver()) isSliceOver = await slicer.next(accountId);
      results.push(rejecting(() => read(Buffer.from(order))));
    }
    return results;
  }

  router.post('/uploads/preview', async (request, response) => {
    const accountId = accountIdOf(request);
    const { orders } = bodyOf<{ orders: string[] }>(request, { orders: texts(MAX_PREVIEWED) });
    response.json({ previews: await readEach(accountId, orders, (order) => normalizeOrder(validOrder(order))) });
  });

  router.post('/uploads/orders', async (request, response) => {
    const accountId = accountIdOf(request);
    const account = await runShort(request, () => findAccount(database, accountId));
    // As intake does.
    if (account?.state === 'suspended') throw new Problem('account_suspended');
    await slicer.next(accountId);
    const { first_position, orders } = bodyOf<{ first_position: number; orders: string[] }>(request, {
      first_position: Joi.number().integer().min(1).required(),
      orders: texts(MAX_BATCH_ORDERS),
    });
    const key = batchKey(orders, first_position, WAY);
    const read = await readEach(accountId, orders, (body) => ({
      sourceOrderId: validOrder(body).source_order_id as string,
      body,
    }));
    const results = await runLong(request, () =>
      inTransaction(database, async (transaction) => {
        const recorded = await recordOrders(transaction, accountId, key, read);
        const count = recorded.filter((result) => 'receipt_id' in result && !result.duplicate).length;
        if (count > 0)
          await recordBy(transaction, request, {
            accountId,
            action: 'orders_uploaded',
            subject: `account:${accountId}`,
            details: { count, first_position },
          });
        return recorded;
      }),
    );
    response.status(202).json({ results });
  });

  router.post('/uploads/outcomes', async (request, response) => {
    const accountId = accountIdOf(request);
    const { receipt_ids } = bodyOf<{ receipt_ids: string[] }>(request, {
      receipt_ids: Joi.array().items(Joi.string().uuid()).min(1).max(MAX_BATCH_ORDERS).required(),
    });
    response.json({ outcomes: await runLong(request, () => findOutcomes(database, accountId, receipt_ids)) });
  });

  return router;
}

/** @throws {Problem} that intake would reject the order with. */
function validOrder(body: Buffer): Record<string, unknown> {
  if (body.length > DEFAULT_MAX_BODY_BYTES) throw new Problem('payload_too_large');
  const payload = parseBody(body);
  validateOrder(payload);
  return payload;
}

function rejecting<Result>(read: () => Result): Result | { error: Rejection } {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { status, code, detail, errors } = error;
    return { error: { status, code, detail, ...(errors && { errors: errors.slice(0, MAX_BATCH_ERRORS) }) } };
  }
}
