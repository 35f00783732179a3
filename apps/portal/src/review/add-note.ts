import type { Knex } from 'knex';
import { recordAudit } from '@orders/database/audit.ts';
import { IS_ORDER } from '@orders/database/orders/order-rows.ts';

/**
 * Adds a reviewer's note to an order in any state, and audits it without its text.
 *
 * @returns `conflict` when the customer of the order was erased; null when the account has no such order.
 */
export async function addNote(
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
