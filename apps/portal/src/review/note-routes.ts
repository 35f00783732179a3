import { addNote } from './add-note.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import Joi from 'joi';
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
  const { knex, runFairly } = deps;
  const router = Router();

  router.post('/orders/:orderId/notes', async (request, response) => {
    const [accountId, orderId] = [accountIdOf(request), orderIdOf(request)];
    const { text: note } = bodyOf<{ text: string }>(request, { text: text.required() });
    const detail = await runFairly(request, async () => {
      const added = await addNote(knex, { accountId, orderId, text: note, by: personOf(request).email });
      if (added === null) throw new Problem('order_not_found');
      if (added === 'conflict') throw new Problem('conflicting_state');
      return readOrderDetail(deps, accountId, orderId);
    });
    response.status(201).json(detail);
  });

  return router;
}
