import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { editStoredOrder } from '@orders/portal/review/edit-order.ts';
import { undoReview } from '@orders/portal/review/undo-review.ts';
import { repeat } from '@orders/test-services/load/offer.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import type { CancelTarget, Sender } from './ledger.ts';
import { between, pick, type Random } from './random.ts';

const INTERVAL_MS = 250;
const BATCH = 5;
const TIMEOUT_MS = 2000;
const BY = 'faults@reviewers';
const REJECTED_SHARE = 0.2;
const EDITED_SHARE = 0.2;
const UNDONE_SHARE = 0.2;
/** Seconds after a decision. An undo is refused after 8 seconds. */
const UNDO_AFTER = [0, 9] as const;

/**
 * Simulates reviewers who confirm and reject orders, undo some of it, and edit some orders.
 *
 * @param options `random` decides what happens to which orders, and `onConfirmed` receives the confirmed ones.
 */
export function startReviewers(options: {
  url: string;
  senders: readonly Sender[];
  random: Random;
  onConfirmed: (orders: CancelTarget[]) => void;
}) {
  const { url, senders, random, onConfirmed } = options;
  // The timeout ends statements that wait for a lock. Otherwise the only connection would wait for the end of the fault.
  const knex = openKnex({ url, poolSize: 1, prepared: true, queryTimeout: TIMEOUT_MS });
  let toUndo: { at: number; accountId: number; orderIds: number[] }[] = [];

  async function decideSome(): Promise<void> {
    const sender = pick(random, senders);
    const { accountId } = sender;
    const orders: { order_id: number; source_order_id: string }[] = await knex('orders')
      .where({ account_id: accountId, review_state: 'needs_review' })
      .orderBy('order_id', 'desc')
      .limit(BATCH)
      .forUpdate()
      .skipLocked()
      .select('order_id', 'source_order_id');
    const orderIds = orders.map(({ order_id }) => Number(order_id));
    const [edited] = orderIds;
    if (edited !== undefined && random() < EDITED_SHARE) await edit(accountId, edited);
    const to = random() < REJECTED_SHARE ? 'rejected' : 'confirmed';
    const undone = orderIds.filter(() => random() < UNDONE_SHARE);
    const at = Date.now() + between(random, UNDO_AFTER) * 1000;
    if (undone.length > 0) toUndo.push({ at, accountId, orderIds: undone });
    const reviewed = await reviewOrders(connectionOf(knex), { accountId, orderIds, to, by: BY });
    if (to === 'rejected') return;
    const confirmed = orders.filter(({ order_id }) => reviewed?.changed.includes(Number(order_id)));
    onConfirmed(confirmed.map(({ source_order_id }) => ({ sender, sourceOrderId: source_order_id })));
  }

  async function edit(accountId: number, orderId: number): Promise<void> {
    const edits = { '/address': `Villa ${Math.floor(random() * 1000)}, Dubai` };
    await editStoredOrder(connectionOf(knex), { accountId, orderId, edits, by: BY });
  }

  async function undoDue(): Promise<void> {
    const due = toUndo.filter(({ at }) => at <= Date.now());
    toUndo = toUndo.filter((undo) => !due.includes(undo));
    for (const { accountId, orderIds } of due) await undoReview(connectionOf(knex), { accountId, orderIds, by: BY });
  }

  // Postgres may be down at any time. It goes on when it is back.
  const reviewing = repeat(async () => {
    await decideSome().catch(() => {});
    await undoDue().catch(() => {});
  }, INTERVAL_MS);
  return {
    async stop() {
      await reviewing.stop();
      await knex.destroy();
    },
  };
}
