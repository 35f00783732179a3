import { findOldestPending, listDeadOfAll } from '@orders/database';
import { Router } from 'express';
import Joi from 'joi';
import type { PortalDeps } from '../deps.ts';
import { queryOf } from '../read-body.ts';

const PAGE_SIZE = 50;

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
    const { died_at, receipt_id } = queryOf<{ died_at?: Date; receipt_id?: string }>(request, {
      died_at: Joi.date().iso(),
      receipt_id: Joi.string().guid(),
    });
    const before = died_at && receipt_id ? { diedAt: died_at, receiptId: receipt_id } : undefined;
    const dead = await listDeadOfAll(knex, { before, limit: PAGE_SIZE + 1 });
    const shown = dead.slice(0, PAGE_SIZE);
    const last = shown.at(-1);
    const next = dead.length > PAGE_SIZE && last ? { died_at: last.died_at, receipt_id: last.receipt_id } : null;
    response.json({ dead: shown, next });
  });

  return router;
}
