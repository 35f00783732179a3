import { type DeadLetterCursor, findOldestPending, listDeadLetters } from '@orders/database';
import { Router } from 'express';
import Joi from 'joi';
import type { PortalDeps } from '../deps.ts';
import { paginate } from '../paginate.ts';
import { queryOf } from '../read-request.ts';

const PAGE_SIZE = 50;

/** A time to the microsecond as `DeadLetterCursor` has it, of a day that there was; it stays a text, as a `Date` has milliseconds. */
const moment = Joi.string()
  .pattern(/^[12]\d{3}(-\d\d){2}T(\d\d:){2}\d\d\.\d{6}Z$/)
  .custom((text: string) => {
    if (!text.startsWith(new Date(text).toISOString().slice(0, -1))) throw new Error('no such day');
    return text;
  });

/** How the service is doing, over all accounts. */
export function serviceRoutes({ knex, queues }: PortalDeps): Router {
  const router = Router();

  // The queue may be away while all else goes on; then there is nothing to say about it.
  router.get('/service', async (_request, response) => {
    const [oldest, lanes, workers] = await Promise.all([
      findOldestPending(knex),
      queues.lanes().catch(() => null),
      queues.workers().catch(() => null),
    ]);
    response.json({ lanes, workers, oldest_pending_at: oldest });
  });

  router.get('/dead', async (request, response) => {
    const { died_at, receipt_id } = queryOf<Partial<DeadLetterCursor>>(request, {
      died_at: moment,
      receipt_id: Joi.string().guid(),
    });
    const before = died_at && receipt_id ? { died_at, receipt_id } : undefined;
    const rows = await listDeadLetters(knex, { before, limit: PAGE_SIZE + 1 });
    const { shown, next } = paginate(rows, PAGE_SIZE, ({ cursor }) => cursor);
    response.json({ dead: shown.map(({ dead }) => dead), next });
  });

  return router;
}
