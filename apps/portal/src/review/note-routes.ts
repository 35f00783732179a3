import { recordAudit } from '@orders/database/audit.ts';
import { IS_ORDER } from '@orders/database/orders/order-rows.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
import type { Knex } from 'knex';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, orderIdOf } from '../read-request.ts';
import { readOrderDetail } from './order-detail.ts';

const MAX_LENGTH = 1000;

/** As `plainText`, but with line breaks. */
const text = Joi.string()
  .trim()
  .replace(/\r\n?/g, '\n')
  .max(MAX_LENGTH)
  .pattern(/^(?:\n|[^\p{Cc}\p{Cs}])*$/u);

/** Adds reviewers' notes to orders. */
export function noteRoutes(deps: PortalDeps): Router {
  const { knex, runLong } = deps;
  const router = Router();

  router.post('/orders/:orderId/notes', async (request, response) => {
    const [accountId, orderId] = [accountIdOf(request), orderIdOf(request)];
    const { text: note } = bodyOf<{ text: string }>(request, { text: text.required() });
    const detail = await runLong(request, async () => {
      const added = await addNote(knex, { accountId, orderId, text: note, by: personOf(request).email });
      if (added === null) throw new Problem('order_not_found');
      if (added === 'conflict') throw new Problem('conflicting_state');
      return readOrderDetail(deps, accountId, orderId);
    });
    response.status(201).json(detail);
  });

  return router;
}

/**
 * Adds a reviewer's note to an order in any state, and audits it without its text.
 *
 * @returns `conflict` when the customer of the order was erased; null when the account has no such order.
 */
async function addNote(
  db: Knex,
  { accountId, orderId, text, by }: { accountId: number; orderId: number; text: string; by: string },
): Promise<{ noteId: number } | 'conflict' | null> {
  return db.transaction(async (trx) => {
    const key = { account_id: accountId, order_id: orderId };
    // An erasure locks the order too, so that it leaves no note behind.
    const [order] = await trx('orders').where(key).whereRaw(IS_ORDER).forKeyShare().select('erased_at');
    if (!order) return null;
    if (order.erased_at !== null) return 'conflict';
    const [note] = await trx('order_notes')
      .insert({ ...key, by, text })
      .returning('note_id');
    const subject = `order:${orderId}`;
    const details = { note_id: note.note_id };
    await recordAudit(trx, { accountId, actor: by, action: 'order_annotated', subject, details });
    return { noteId: note.note_id };
  });
}
