import { findOldestPending } from '@orders/database/receipts/receipt-records.ts';
import { listWorkers } from '@orders/database/workers.ts';
import { Router } from 'express';
import Joi from 'joi';
import type { PortalDeps } from '../deps.ts';
import { paginate, queryOf } from '../read-request.ts';
import { type DeadLetterCursor, listDeadLetters } from '../receipts/dead-letters.ts';

const PAGE_SIZE = 50;

/** A valid time with microseconds, as in `DeadLetterCursor`. It stays a string because a `Date` holds only milliseconds. */
const timestamp = Joi.string()
  .pattern(/^[12]\d{3}(-\d\d){2}T(\d\d:){2}\d\d\.\d{6}Z$/)
  .custom((text: string) => {
    if (!text.startsWith(new Date(text).toISOString().slice(0, -1))) throw new Error('no such day');
    return text;
  });

/** The state of the service over all accounts. */
export function serviceRoutes({ database, queues }: PortalDeps): Router {
  const router = Router();

  router.get('/service', async (_request, response) => {
    const [oldest, workers, lanes] = await Promise.all([
      findOldestPending(database),
      listWorkers(database),
      // Null while Redis is unavailable: everything else still works.
      queues.lanes().catch(() => null),
    ]);
    response.json({ lanes, workers, oldest_pending_at: oldest });
  });

  router.get('/dead', async (request, response) => {
    const { died_at, receipt_id } = queryOf<Partial<DeadLetterCursor>>(request, {
      died_at: timestamp,
      receipt_id: Joi.string().guid(),
    });
    const before = died_at && receipt_id ? { died_at, receipt_id } : undefined;
    const rows = await listDeadLetters(database, { before, limit: PAGE_SIZE + 1 });
    const { page, next } = paginate(rows, PAGE_SIZE, ({ cursor }) => cursor);
    response.json({ dead: page.map(({ dead }) => dead), next });
  });

  return router;
}
