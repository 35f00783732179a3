import type { Knex } from 'knex';

/** A saved view of an account's list of orders. */
export interface ReviewView {
  view_id: number;
  name: string;
  /** The query string of the page, without its question mark. */
  query: string;
}

/** The user and account that views belong to. */
export interface ViewOwner {
  accountId: number;
  userId: string;
}

/** Max views of a user per account. */
export const MAX_VIEWS = 50;

const COLUMNS = ['view_id', 'name', 'query'] as const;

const viewsOf = (db: Knex, { accountId, userId }: ViewOwner): Knex.QueryBuilder<ReviewView> =>
  db('review_views').where({ account_id: accountId, user_id: userId });

/** Oldest first. */
export async function listViews(db: Knex, owner: ViewOwner): Promise<ReviewView[]> {
  return viewsOf(db, owner).select(COLUMNS).orderBy('view_id');
}

/** @returns `name_taken` or `too_many` when nothing was stored. */
export async function createView(
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
export async function deleteView(db: Knex, owner: ViewOwner, viewId: number): Promise<boolean> {
  return (await viewsOf(db, owner).where({ view_id: viewId }).delete()) > 0;
}
