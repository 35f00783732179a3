import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from '@orders/database/connect.ts';
import { reviewOrders } from '@orders/database/orders/review-orders.ts';
import { type Connection, execute, run } from '@orders/database/run.ts';
import type { DemoAccount } from './demo-accounts.ts';

const CANCELLED = {
  source_order_id: 'demo-cancelled',
  customer: { name: 'Mariam Al Ali', phone: '+971502468013' },
  address: 'Villa 4, Street 11',
  emirate: 'Dubai',
  items: [{ name: 'Date box', quantity: 2 }],
  total: '120.00',
};
const DISPATCHED = { ...CANCELLED, source_order_id: 'demo-dispatched', customer: { name: 'Yousef Karim' } };

interface Demo {
  intakeUrl: string;
  databaseUrl: string;
  accounts: readonly DemoAccount[];
}

/**
 * Cancels orders as their senders: one of the first account, and one of the second that was dispatched, which leaves a request to deal with.
 * The first account has none, as its pages are those of the pictures.
 */
export async function makeDemoCancellations({ intakeUrl, databaseUrl, accounts }: Demo): Promise<void> {
  const [first, second] = accounts;
  if (!first || !second) throw new Error('The demo accounts are missing.');
  await send(intakeUrl, first, CANCELLED);
  await cancel(intakeUrl, first, CANCELLED.source_order_id, 'The customer ordered twice');
  const orderId = await send(intakeUrl, second, DISPATCHED);
  await withDatabase({ url: databaseUrl, applicationName: 'orders demo cancellations' }, async (database) => {
    await reviewOrders(database, {
      accountId: second.id,
      orderIds: [orderId],
      to: 'confirmed',
      by: 'operator@example.com',
    });
    await dispatch(database, orderId);
  });
  await cancel(intakeUrl, second, DISPATCHED.source_order_id, 'The customer is not at home this week');
}

const DISPATCH_TIMEOUT_MS = 20_000;

/** Ends the time in which a confirmation can be taken back, and waits until a worker has dispatched the order. */
async function dispatch(database: Connection, orderId: number): Promise<void> {
  await execute(database, 'update undispatched_orders set due_at = now() where order_id = $1', [orderId]);
  for (const deadline = Date.now() + DISPATCH_TIMEOUT_MS; Date.now() < deadline; await sleep(50)) {
    if ((await run(database, 'select from dispatch_log where order_id = $1', [orderId])).length > 0) return;
  }
  throw new Error('A demo order was not dispatched in time.');
}

/** Sends an order and waits until it is written. @returns its id. */
async function send(intakeUrl: string, account: DemoAccount, order: object): Promise<number> {
  const { order_id } = await post<{ order_id: number | null }>(`${intakeUrl}/ingest/orders`, account, order);
  if (order_id === null) throw new Error('A demo order was not written in time.');
  return order_id;
}

async function cancel(intakeUrl: string, account: DemoAccount, source_order_id: string, reason: string): Promise<void> {
  await post(`${intakeUrl}/ingest/orders/cancel`, account, { source_order_id, reason });
}

async function post<T>(url: string, { apiKey }: DemoAccount, body: object): Promise<T> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', Prefer: 'wait=20' },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`A demo request was rejected with status ${reply.status}.`);
  return (await reply.json()) as T;
}
