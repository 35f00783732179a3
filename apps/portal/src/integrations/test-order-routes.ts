import { randomBytes, randomUUIDv7 } from 'node:crypto';
import { findAccount } from '@orders/database/accounts/accounts.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import { recordBy } from '../audit/record.ts';
import { accountIdOf, contextOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';

/** Sends clearly marked test orders for the account; from the receipt on they are processed as any order. */
export function testOrderRoutes({ knex, database, runShortFairly }: PortalDeps): Router {
  const limitRate = createIntervalLimiter(1000);
  const router = Router();

  router.post('/test-orders', async (request, response) => {
    const accountId = accountIdOf(request);
    const account = await runShortFairly(request, () => findAccount(knex, accountId));
    // As intake does.
    if (account?.state === 'suspended') throw new Problem('account_suspended');
    limitRate(accountId);
    const order = makeTestOrder();
    const { source_order_id: sourceOrderId } = order;
    const receiptId = randomUUIDv7();
    contextOf(request).receiptId = receiptId;
    await knex.transaction(async (trx) => {
      await recordBy(trx, request, {
        accountId,
        action: 'test_order_sent',
        subject: `receipt:${receiptId}`,
        details: { source_order_id: sourceOrderId },
      });
      const receipt = { receiptId, accountId, sourceOrderId, channel: 'rest' as const, idempotencyKey: null };
      // Last, and outside this transaction: the audit entry commits only if the receipt was stored. Delay 0 makes its outbox row due
      // immediately, so the sweeper enqueues it.
      await recordReceipts(database, randomUUIDv7(), 0, [{ ...receipt, body: Buffer.from(JSON.stringify(order)) }]);
    });
    response.status(202).json({ receipt_id: receiptId, source_order_id: sourceOrderId });
  });

  return router;
}

/** Allows each account one call per `ms` milliseconds in this process. */
function createIntervalLimiter(ms: number): (accountId: number) => void {
  const last = new Map<number, number>();
  return (accountId) => {
    const now = performance.now();
    for (const [other, at] of last) if (now - at >= ms) last.delete(other);
    if (last.has(accountId)) {
      const detail = 'One test order a second is enough. Try again in a moment.';
      throw new Problem('rate_limited', { detail, headers: { 'Retry-After': '1' } });
    }
    last.set(accountId, now);
  };
}

function makeTestOrder() {
  const time = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return {
    source_order_id: `test-${time}-${randomBytes(3).toString('hex')}`,
    order_number: 'TEST',
    customer: { name: 'Test customer', phone: '050 000 0000' },
    address: 'Test order from the portal: do not deliver',
    emirate: 'Dubai',
    items: [{ name: 'Test item', quantity: 1 }],
    total: '1.00',
    delivery_instructions: 'This is a test. Reject it.',
  };
}
