import { until } from '@orders/test-services/until.ts';
import type { Compose } from './deployment.ts';
import type { Ledger } from './sender.ts';

interface ReceiptRow {
  receipt_id: string;
  state: string;
  source_order_id: string;
  order_id: number | null;
}

interface OrderRow {
  order_id: number;
  source_order_id: string;
  receipt_id: string;
}

/** What was found, counted and by its violations. */
export interface Findings {
  states: Record<string, number>;
  receipts: number;
  orders: number;
  violations: string[];
}

/** Waits until nothing is left to do. */
export async function untilSettled({ query }: Compose, signal: AbortSignal): Promise<void> {
  const isSettled = async () => {
    const [row] = await query<{ settled: boolean }>(
      `select not exists (select from receipts where state not in ('written', 'duplicate', 'dead'))
          and not exists (select from outbox) as settled`,
    );
    return row?.settled;
  };
  const what = 'every receipt is final and no outbox row is left';
  await until(what, isSettled, { seconds: 180, everyMs: 500, signal });
}

/** Compares what the clients were told with what Postgres holds. */
export async function verify({ query }: Compose, ledger: Ledger): Promise<Findings> {
  const receipts = await query<ReceiptRow>('select receipt_id, state, source_order_id, order_id from receipts');
  const orders = await query<OrderRow>('select order_id, source_order_id, receipt_id from orders');
  const violations = [...ledger.violations];
  const stored = new Map(receipts.map((receipt) => [receipt.receipt_id, receipt]));
  const ordersOf = Map.groupBy(orders, (order) => order.source_order_id);

  for (const [receiptId, sourceOrderId] of ledger.accepted) {
    const receipt = stored.get(receiptId);
    if (!receipt) violations.push(`lost: receipt ${receiptId}`);
    else if (receipt.source_order_id !== sourceOrderId) violations.push(`mistaken: receipt ${receiptId}`);
  }
  for (const { receipt_id, state } of receipts) {
    if (state !== 'written' && state !== 'duplicate') violations.push(`${state}: receipt ${receipt_id}`);
  }
  for (const sourceOrderId of new Set(ledger.accepted.values())) {
    const found = ordersOf.get(sourceOrderId)?.length ?? 0;
    if (found !== 1) violations.push(`${found === 0 ? 'lost' : 'doubled'}: ${found} orders for ${sourceOrderId}`);
  }
  for (const { order_id, receipt_id } of orders) {
    const receipt = stored.get(receipt_id);
    const isItsOwn = receipt?.state === 'written' && receipt.order_id === order_id;
    if (!isItsOwn) violations.push(`order ${order_id} is not what its receipt says`);
  }
  const states = Object.fromEntries(
    [...Map.groupBy(receipts, ({ state }) => state)].map(([state, { length }]) => [state, length]),
  );
  if ((states.written ?? 0) !== orders.length)
    violations.push(`${states.written} written, but ${orders.length} orders`);
  return { states, receipts: receipts.length, orders: orders.length, violations };
}
