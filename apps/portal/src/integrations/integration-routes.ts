import { randomBytes, randomUUIDv7 } from 'node:crypto';
import {
  type Account,
  findAccount,
  lockAccount,
  setHoldChangedDeliveries,
} from '@orders/database/accounts/accounts.ts';
import { readEventLog, setEvents } from '@orders/database/events/event-logs.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { listRejected } from '@orders/database/rejected-deliveries.ts';
import { inTransaction } from '@orders/database/run.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { accountIdOf, contextOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf, limitPageBytes } from '../read-request.ts';
import { readSetup } from './account-setup.ts';
import { endpointRoutes } from './endpoint-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { mappingRoutes } from './mapping-routes.ts';
import { signingRoutes } from './signing-routes.ts';
import { sourceRoutes } from './source-routes.ts';
import { testAccountRoutes } from './test-account-routes.ts';

const MAX_REJECTED = 100;

/** Routes for a shop's developer: keys, signing secrets, sources, events, endpoints, test orders, the setting for changed deliveries, the last rejected deliveries and the first steps. */
export function integrationRoutes(deps: PortalDeps): Router {
  const router = Router();
  router.use(keyRoutes(deps), signingRoutes(deps), testOrderRoutes(deps), changedDeliveriesRoutes(deps));
  router.use(sourceRoutes(deps), mappingRoutes(deps), eventRoutes(deps), endpointRoutes(deps), testAccountRoutes(deps));
  router.get('/rejected-deliveries', async (request, response) => {
    const accountId = accountIdOf(request);
    const rejected = await deps.runLong(request, () => listRejected(deps.database, accountId, MAX_REJECTED));
    response.json({ rejected_deliveries: limitPageBytes(rejected) });
  });
  router.get('/setup', async (request, response) => {
    response.json(await deps.runShort(request, () => readSetup(deps.database, accountIdOf(request))));
  });
  return router;
}

/** The log of events of an account: its state, and whether events are recorded. */
function eventRoutes(deps: PortalDeps): Router {
  const { database, runShort } = deps;
  const transact = transactFairly(deps);
  const router = Router();

  router.get('/events', async (request, response) => {
    response.json(await runShort(request, () => readEventLog(database, accountIdOf(request))));
  });

  router.put('/events', async (request, response) => {
    const { is_enabled } = bodyOf<{ is_enabled: boolean }>(request, { is_enabled: Joi.boolean().strict().required() });
    const accountId = accountIdOf(request);
    const state = await transact(request, async (transaction) => {
      // Locked, so that the audit entry matches the change.
      await lockAccount(transaction, accountId);
      if (await setEvents(transaction, accountId, is_enabled)) {
        const action = is_enabled ? 'events_enabled' : 'events_disabled';
        await recordBy(transaction, request, { accountId, action, subject: `account:${accountId}` });
      }
      return readEventLog(transaction, accountId);
    });
    response.json(state);
  });

  return router;
}

type Choice = Pick<Account, 'resends'>;

/** The account's setting for an order in review that is sent again with other content. */
function changedDeliveriesRoutes(deps: PortalDeps): Router {
  const { database, runShort } = deps;
  const transact = transactFairly(deps);
  const router = Router();

  router.get('/resends', async (request, response) => {
    const account = await runShort(request, () => findAccount(database, accountIdOf(request)));
    response.json(choiceOf(account));
  });

  router.put('/resends', async (request, response) => {
    const { resends } = bodyOf<Choice>(request, { resends: Joi.valid('ignore', 'hold').required() });
    const accountId = accountIdOf(request);
    await transact(request, async (transaction) => {
      // Locked, so that the audit entry matches the change.
      const before = await lockAccount(transaction, accountId);
      if (before?.resends === resends) return;
      await setHoldChangedDeliveries(transaction, accountId, resends === 'hold');
      await recordBy(transaction, request, {
        accountId,
        action: 'resends_hold_changed',
        subject: `account:${accountId}`,
        details: { resends },
      });
    });
    response.json({ resends });
  });

  return router;
}

function choiceOf(account: Account | null): Choice {
  return { resends: account?.resends ?? 'ignore' };
}

/** Sends clearly marked test orders for the account; from the receipt on they are processed as any order. */
function testOrderRoutes({ database, runShort }: PortalDeps): Router {
  const limitRate = createIntervalLimiter(1000);
  const router = Router();

  router.post('/test-orders', async (request, response) => {
    const accountId = accountIdOf(request);
    const account = await runShort(request, () => findAccount(database, accountId));
    // As intake does.
    if (account?.state === 'suspended') throw new Problem('account_suspended');
    limitRate(accountId);
    const order = makeTestOrder();
    const { source_order_id: sourceOrderId } = order;
    const receiptId = randomUUIDv7();
    contextOf(request).receiptId = receiptId;
    await inTransaction(database, async (transaction) => {
      await recordBy(transaction, request, {
        accountId,
        action: 'test_order_sent',
        subject: `receipt:${receiptId}`,
        details: { source_order_id: sourceOrderId },
      });
      const receipt = { receiptId, accountId, sourceOrderId, channel: 'rest' as const, idempotencyKey: null };
      // Delay 0 makes its outbox row due immediately, so the sweeper enqueues it.
      await recordReceipts(transaction, randomUUIDv7(), 0, [{ ...receipt, body: Buffer.from(JSON.stringify(order)) }]);
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
