import { recordAudit } from '@orders/database/audit.ts';
import { type Connection, inTransaction, run } from '@orders/database/run.ts';
import { Router } from 'express';
import Joi from 'joi';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, orderIdOf } from '../read-request.ts';
import { expectChanged, lockUnerased } from './change-order.ts';
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
  const { database, runLong } = deps;
  const router = Router();

  router.post('/orders/:orderId/notes', async (request, response) => {
    const [accountId, orderId] = [accountIdOf(request), orderIdOf(request)];
    const { text: note } = bodyOf<{ text: string }>(request, { text: text.required() });
    const detail = await runLong(request, async () => {
      expectChanged(await addNote(database, { accountId, orderId, text: note, by: personOf(request).email }));
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
  connection: Connection,
  { accountId, orderId, text, by }: { accountId: number; orderId: number; text: string; by: string },
): Promise<{ noteId: number } | 'conflict' | null> {
  return inTransaction(connection, async (transaction) => {
    const locked = await lockUnerased(transaction, accountId, orderId);
    if (locked !== 'locked') return locked;
    const [note] = await run<{ note_id: number }>(
      transaction,
      'insert into order_notes (account_id, order_id, by, text) values ($1, $2, $3, $4) returning note_id',
      [accountId, orderId, by, text],
    );
    const noteId = note?.note_id ?? 0;
    const [subject, details] = [`order:${orderId}`, { note_id: noteId }];
    await recordAudit(transaction, { accountId, actor: by, action: 'order_annotated', subject, details });
    return { noteId };
  });
}
