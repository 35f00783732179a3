import {
  createView,
  deleteView,
  listViews,
  MAX_VIEWS,
  type ReviewView,
  type ViewOwner,
} from './review-views.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, idOf, plainText } from '../read-request.ts';

const MAX_NAME = 60;
const MAX_QUERY = 500;

/** The saved views of the signed-in user; each account has its own. */
export function viewsRoutes({ knex, runShortFairly }: PortalDeps): Router {
  const router = Router();

  router.get('/views', async (request, response) => {
    const views = await runShortFairly(request, () => listViews(knex, ownerOf(request)));
    response.json({ views });
  });

  router.post('/views', async (request, response) => {
    const view = bodyOf<Omit<ReviewView, 'view_id'>>(request, {
      name: plainText(MAX_NAME).trim().required(),
      query: plainText(MAX_QUERY).allow('').required(),
    });
    const created = await runShortFairly(request, () => createView(knex, ownerOf(request), view));
    if (created === 'name_taken') throw new Problem('conflicting_state', { detail: 'Another view has this name.' });
    if (created === 'too_many') {
      const detail = `A user can save ${MAX_VIEWS} views. Delete one first.`;
      throw new Problem('invalid_request', { errors: [{ pointer: '', code: 'too_many_views', detail }] });
    }
    response.status(201).json(created);
  });

  router.delete('/views/:viewId', async (request, response) => {
    const viewId = idOf(request.params.viewId);
    const isDeleted =
      viewId !== null && (await runShortFairly(request, () => deleteView(knex, ownerOf(request), viewId)));
    if (!isDeleted) throw new Problem('not_found', { detail: 'You have no view with this id.' });
    response.status(204).end();
  });

  return router;
}

function ownerOf(request: Request): ViewOwner {
  return { accountId: accountIdOf(request), userId: personOf(request).userId };
}
