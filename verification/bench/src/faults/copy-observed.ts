import type pg from 'pg';
import type { Dispatcher } from './dispatcher.ts';
import type { CancellationLedger, EventLedger, Ledger, Sender } from './ledger.ts';

/** The feeds as they were read, and the time by which their events were due. */
export interface ReadFeeds {
  senders: readonly Sender[];
  events: Pick<EventLedger, 'eventsOf' | 'earlyIds'>;
  /** Null after everything was published. */
  publishedBefore: Date | null;
}

/** What clients and the dispatching system have seen. */
export interface Observed {
  ledger: Ledger;
  cancellations: CancellationLedger;
  dispatcher: Dispatcher;
  feeds: ReadFeeds;
}

/** A decision is published after its undo time, a delay by a fault, and the newer decisions that commit before it. */
const MAX_DECISION_DELAY_MS = 20_000;

/** Copies the ledgers, the dispatched orders and the events to temporary tables of the current transaction. The rules say what they contain. */
export async function copyObserved(client: pg.Client, observed: Observed): Promise<void> {
  const { ledger, cancellations, dispatcher, feeds } = observed;
  const { senders, events, publishedBefore } = feeds;
  const copy = async (table: string, columns: string, rows: readonly object[]) => {
    await client.query(`create temp table ${table} (${columns}) on commit drop`);
    const insert = `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1)`;
    await client.query(insert, [JSON.stringify(rows)]);
    await client.query(`analyze ${table}`);
  };

  // The cursors, and the rows up to them, from the same moment.
  const { cursor, requestCursor } = dispatcher;
  const [seen, requests] = [[...dispatcher.seen.values()], [...dispatcher.readRequests]];
  await copy('dispatch_cursor', 'position bigint', [{ position: cursor }]);
  await copy('request_cursor', 'position bigint', [{ position: requestCursor }]);
  await copy(
    'dispatched',
    'order_id bigint, position bigint, times int',
    seen.map(({ orderId, position, times }) => ({ order_id: orderId, position, times })),
  );
  await copy(
    'read_requests',
    'order_id bigint, is_before_order boolean',
    requests.map(([orderId, { isBeforeOrder }]) => ({ order_id: orderId, is_before_order: isBeforeOrder })),
  );
  await copy(
    'cancellations',
    'account_id int, source_order_id text collate "C", outcome text, order_id bigint',
    cancellations.entries().map(({ sender, sourceOrderId, reply }) => ({
      account_id: sender.accountId,
      source_order_id: sourceOrderId,
      outcome: reply?.outcome,
      order_id: reply?.orderId,
    })),
  );
  await copy(
    'accepted',
    'receipt_id uuid, account_id int, source_order_id text collate "C", idempotency_key text collate "C", is_poison boolean',
    [...ledger.accepted].map(([receiptId, { order }]) => ({
      receipt_id: receiptId,
      account_id: order.sender.accountId,
      source_order_id: order.sourceOrderId,
      idempotency_key: order.idempotencyKey,
      is_poison: order.isPoison,
    })),
  );

  const feedAccounts = senders.filter(({ hasEvents }) => hasEvents).map(({ accountId }) => ({ account_id: accountId }));
  await copy('feed_accounts', 'account_id int', feedAccounts);
  const decidedBefore = publishedBefore && new Date(publishedBefore.getTime() - MAX_DECISION_DELAY_MS);
  await copy('feed_state', 'published_before timestamptz, decided_before timestamptz', [
    { published_before: publishedBefore ?? 'infinity', decided_before: decidedBefore ?? 'infinity' },
  ]);
  await copy(
    'feed',
    `account_id int, sequence bigint, event_id text, type text, receipt_id uuid, source_order_id text collate "C", order_id bigint,
     duplicate_of uuid, is_early boolean`,
    feedAccounts.flatMap(({ account_id }) =>
      events.eventsOf(account_id).map(({ id, type, data }) => ({
        account_id,
        event_id: id,
        type,
        ...data,
        is_early: events.earlyIds.has(id),
      })),
    ),
  );
}
