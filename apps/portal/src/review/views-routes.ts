import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import type { Knex } from 'knex';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, idOf, plainText } from '../read-request.ts';

/** A saved view of an account's list of orders. */
interface ReviewView {
  view_id: number;
  name: string;
  /** The query string of the page, without its question mark. */
  query: string;
}

/** The user and account that views belong to. */
interface ViewOwner {
  accountId: number;
  userId: string;
}

/** Max views of a user per account. */
const MAX_VIEWS = 50;

const COLUMNS = ['view_id', 'name', 'query'] as const;

const viewsOf = (db: Knex, { accountId, userId }: ViewOwner): Knex.QueryBuilder<ReviewView> =>
  db('review_views').where({ account_id: accountId, user_id: userId });

/** Oldest first. */
async function listViews(db: Knex, owner: ViewOwner): Promise<ReviewView[]> {
  return viewsOf(db, owner).select(COLUMNS).orderBy('view_id');
}

/** @returns `name_taken` or `too_many` when nothing was stored. */
async function createView(
  db: Knex,
  owner: ViewOwner,
  { name, query }: Omit<ReviewView, 'view_id'>,
): Promise<ReviewView | 'name_taken' | 'too_many'> {
  return db.transaction(async (trx) => {
    // Concurrent calls of a user wait for each other, so that the limit holds.
    await trx('users').where({ id: owner.userId }).forNoKeyUpdate().select('id');
    const views = await listViews(trx, owner);
    if (views.some((view) => view.name === name)) return 'name_taken';
    if (views.length >= MAX_VIEWS) return 'too_many';
    const row = { account_id: owner.accountId, user_id: owner.userId, name, query };
    const [view] = await trx('review_views').insert(row).returning<ReviewView[]>(COLUMNS);
    return view as ReviewView;
  });
}

/** @returns whether the user had this view. */
async function deleteView(db: Knex, owner: ViewOwner, viewId: number): Promise<boolean> {
  return (await viewsOf(db, owner).where({ view_id: viewId }).delete()) > 0;
}

const MAX_NAME = 60;
const MAX_QUERY = 500;

/** The saved views of the signed-in user; each account has its own. */
export function viewsRoutes({ knex, runShort }: PortalDeps): Router {
  const router = Router();

  router.get('/views', async (request, response) => {
    const views = await runShort(request, () => listViews(knex, ownerOf(request)));
    response.json({ views });
  });

  router.post('/views', async (request, response) => {
    const view = bodyOf<Omit<ReviewView, 'view_id'>>(request, {
      name: plainText(MAX_NAME).trim().required(),
      query: plainText(MAX_QUERY).allow('').required(),
    });
    const created = await runShort(request, () => createView(knex, ownerOf(request), view));
    if (created === 'name_taken') throw new Problem('conflicting_state', { detail: 'Another view has this name.' });
    if (created === 'too_many') {
      const detail = `A user can save ${MAX_VIEWS} views. Delete one first.`;
      throw new Problem('invalid_request', { errors: [{ pointer: '', code: 'too_many_views', detail }] });
    }
    response.status(201).json(created);
  });

  router.delete('/views/:viewId', async (request, response) => {
    const viewId = idOf(request.params.viewId);
    const isDeleted = viewId !== null && (await runShort(request, () => deleteView(knex, ownerOf(request), viewId)));
    if (!isDeleted) throw new Problem('not_found', { detail: 'You have no view with this id.' });
    response.status(204).end();
  });

  return router;
}

function ownerOf(request: Request): ViewOwner {
  return { accountId: accountIdOf(request), userId: personOf(request).userId };
}
