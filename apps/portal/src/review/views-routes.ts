import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, idOf, plainText } from '../read-request.ts';

/** A saved view of an account's list of orders. */
export interface ReviewView {
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

/** Oldest first. */
async function listViews(connection: Connection, { accountId, userId }: ViewOwner): Promise<ReviewView[]> {
  return run<ReviewView>(
    connection,
    'select view_id, name, query from review_views where account_id = $1 and user_id = $2 order by view_id',
    [accountId, userId],
  );
}

/** @returns `name_taken` or `too_many` when nothing was stored. */
async function createView(
  connection: Connection,
  owner: ViewOwner,
  { name, query }: Omit<ReviewView, 'view_id'>,
): Promise<ReviewView | 'name_taken' | 'too_many'> {
  return inTransaction(connection, async (transaction) => {
    // Concurrent calls of a user wait for each other, so that the limit holds.
    await run(transaction, 'select from users where id = $1 for no key update', [owner.userId]);
    const views = await listViews(transaction, owner);
    if (views.some((view) => view.name === name)) return 'name_taken';
    if (views.length >= MAX_VIEWS) return 'too_many';
    const [view] = await run<ReviewView>(
      transaction,
      `insert into review_views (account_id, user_id, name, query) values ($1, $2, $3, $4)
       returning view_id, name, query`,
      [owner.accountId, owner.userId, name, query],
    );
    return view as ReviewView;
  });
}

/** @returns whether the user had this view. */
async function deleteView(connection: Connection, { accountId, userId }: ViewOwner, viewId: number): Promise<boolean> {
  const remove = 'delete from review_views where account_id = $1 and user_id = $2 and view_id = $3';
  return (await execute(connection, remove, [accountId, userId, viewId])) > 0;
}

const MAX_NAME = 60;
const MAX_QUERY = 500;

/** The saved views of the signed-in user; each account has its own. */
export function viewsRoutes({ database, runShort }: PortalDeps): Router {
  const router = Router();

  router.get('/views', async (request, response) => {
    const views = await runShort(request, () => listViews(database, ownerOf(request)));
    response.json({ views });
  });

  router.post('/views', async (request, response) => {
    const view = bodyOf<Omit<ReviewView, 'view_id'>>(request, {
      name: plainText(MAX_NAME).trim().required(),
      query: plainText(MAX_QUERY).allow('').required(),
    });
    const created = await runShort(request, () => createView(database, ownerOf(request), view));
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
      viewId !== null && (await runShort(request, () => deleteView(database, ownerOf(request), viewId)));
    if (!isDeleted) throw new Problem('not_found', { detail: 'You have no view with this id.' });
    response.status(204).end();
  });

  return router;
}

function ownerOf(request: Request): ViewOwner {
  return { accountId: accountIdOf(request), userId: personOf(request).userId };
}
