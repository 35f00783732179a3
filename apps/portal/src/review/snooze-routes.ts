import { recordAudit } from '@orders/database/audit.ts';
import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, orderIdOf, plainText } from '../read-request.ts';
import { expectChanged } from './change-order.ts';
import { MAX_SNOOZED } from './find-snoozes.ts';
import { readOrderDetail } from './order-detail.ts';

/** Two days: what waits longer is no longer waited for. */
const MAX_MINUTES = 2880;
const MAX_REASON = 200;

interface SnoozedBy {
  accountId: number;
  orderId: number;
  by: string;
}

/** Snoozes an order that needs review, and ends that before its time. */
export function snoozeRoutes(deps: PortalDeps): Router {
  const { database, runLong } = deps;
  const router = Router();

  const change = (request: Request, run: (order: SnoozedBy) => Promise<'done' | 'conflict' | 'too_many' | null>) => {
    const order = { accountId: accountIdOf(request), orderId: orderIdOf(request), by: personOf(request).email };
    return runLong(request, async () => {
      if (expectChanged(await run(order)) === 'too_many') {
        const detail = `At most ${MAX_SNOOZED} orders of an account can be snoozed.`;
        throw new Problem('invalid_request', { errors: [{ pointer: '', code: 'too_many_snoozed', detail }] });
      }
      return readOrderDetail(deps, order.accountId, order.orderId);
    });
  };

  // In minutes, as the clocks of browsers can be wrong.
  router.put('/orders/:orderId/snooze', async (request, response) => {
    const { minutes, reason } = bodyOf<{ minutes: number; reason?: string }>(request, {
      minutes: Joi.number().strict().integer().min(1).max(MAX_MINUTES).required(),
      reason: plainText(MAX_REASON).trim().allow(''),
    });
    const snooze = { minutes, reason: reason || null };
    response.json(await change(request, (order) => snoozeOrder(database, { ...order, ...snooze })));
  });

  router.delete('/orders/:orderId/snooze', async (request, response) => {
    response.json(await change(request, (order) => endSnooze(database, order)));
  });

  return router;
}

/** Locks an order so that no decision about it, and no erasure of its customer, is missed; null when the account has no such order. */
async function lockOrder(
  connection: Connection,
  { accountId, orderId }: SnoozedBy,
): Promise<{ canBeSnoozed: boolean } | null> {
  const [order] = await run<{ canBeSnoozed: boolean }>(
    connection,
    `select review_state = 'needs_review' and erased_at is null as "canBeSnoozed"
     from orders where account_id = $1 and order_id = $2 for share`,
    [accountId, orderId],
  );
  return order ?? null;
}

/** Snoozes an order, or for another time. The audit log has for how long, not the reason, which may name the customer. */
async function snoozeOrder(
  connection: Connection,
  snooze: SnoozedBy & { minutes: number; reason: string | null },
): Promise<'done' | 'conflict' | 'too_many' | null> {
  const { accountId, orderId, by, minutes, reason } = snooze;
  return inTransaction(connection, async (transaction) => {
    const order = await lockOrder(transaction, snooze);
    if (!order?.canBeSnoozed) return order && 'conflict';
    const [others] = await run<{ count: number }>(
      transaction,
      'select count(*) from order_snoozes where account_id = $1 and order_id <> $2 and until > now()',
      [accountId, orderId],
    );
    if ((others?.count ?? 0) >= MAX_SNOOZED) return 'too_many';
    await execute(
      transaction,
      `insert into order_snoozes (account_id, order_id, until, by, reason)
       values ($1, $2, clock_timestamp() + make_interval(mins => $3::int), $4, $5)
       on conflict (account_id, order_id) do update set until = excluded.until, by = excluded.by, reason = excluded.reason`,
      [accountId, orderId, minutes, by, reason],
    );
    const [action, subject] = ['order_snoozed', `order:${orderId}`];
    await recordAudit(transaction, { accountId, actor: by, action, subject, details: { snooze_minutes: minutes } });
    return 'done';
  });
}

/** Ends a snooze before its time. Repeating it changes nothing. */
async function endSnooze(connection: Connection, order: SnoozedBy): Promise<'done' | null> {
  const { accountId, orderId, by } = order;
  return inTransaction(connection, async (transaction) => {
    if ((await lockOrder(transaction, order)) === null) return null;
    const ended = await execute(
      transaction,
      `update order_snoozes set until = clock_timestamp()
       where account_id = $1 and order_id = $2 and until > clock_timestamp()`,
      [accountId, orderId],
    );
    const [action, subject] = ['order_snooze_ended', `order:${orderId}`];
    if (ended > 0) await recordAudit(transaction, { accountId, actor: by, action, subject });
    return 'done';
  });
}
