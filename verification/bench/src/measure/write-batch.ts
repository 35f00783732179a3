import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import { writeOrders } from '@orders/database/orders/write-orders.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';
import { table } from '../report/tables.ts';
import { walPosition } from './postgres.ts';
import { usageOf } from './processes.ts';
import { median } from './statistics.ts';

/** A pool of one connection, like that of a worker. */
export interface Writer {
  database: Database;
  backendPid: number;
  close(): Promise<void>;
}

export async function openWriter(url: string): Promise<Writer> {
  const database = openDatabase({ url, poolSize: 1, prepared: true, bulk: true });
  const { rows } = await database.pool.query('select pg_backend_pid() as pid');
  return { database, backendPid: rows[0].pid, close: () => closeDatabase(database) };
}

/** The cost of statements for some orders. */
export interface BatchCost {
  orders: number;
  ms: number;
  /** CPU time of Postgres. */
  microseconds: number;
  walBytes: number;
}

/** The orders of a batch. */
export const BATCH = 500;
export const makeBatch = (number: number) =>
  Array.from({ length: BATCH }, (_, index) => makeSampleOrder(number * BATCH + index));

type SampleOrder = ReturnType<typeof makeSampleOrder>;

const FIRST = 'Mohammed,Ahmed,Fatima,Aisha,Omar,Khalid,Sara,Priya,John,محمد,فاطمة,Yousef,Layla,Rahul,Noor,Hassan'.split(
  ',',
);
const LAST = 'Al Mansoori,Khan,Smith,Patel,الهاشمي,Al Nuaimi,Fernandes,Haddad,Nair,Al Suwaidi,Rahman,Cruz'.split(',');
const oneOf = (texts: readonly string[]) => texts[Math.floor(Math.random() * texts.length)];

/** Records receipts of these orders, claims them, and writes them like the worker. Only the writing is measured. */
export async function writeBatch(writer: Writer, accountId: number, orders: SampleOrder[]): Promise<BatchCost> {
  const { database } = writer;
  const receipts = orders.map((order) => ({
    receiptId: randomUUIDv7(),
    accountId,
    channel: 'rest' as const,
    sourceOrderId: order.source_order_id,
    idempotencyKey: null,
    body: Buffer.from(JSON.stringify(order)),
  }));
  const [batchId, leaseId] = [randomUUIDv7(), randomUUID()];
  const receiptIds = await recordReceipts(database, batchId, 60_000, receipts);
  await claimReceipts(database, receiptIds, leaseId, 60_000);
  const writable = orders.map((order, index) => ({
    ...normalizeSent(order),
    receiptId: receipts[index]?.receiptId ?? '',
    accountId,
  }));
  return measureStatement(writer, () => writeOrders(database, leaseId, [batchId], writable), orders.length);
}

/** Measures statements on the writer's connection, for so many orders. */
export async function measureStatement(
  { database, backendPid }: Writer,
  run: () => Promise<unknown>,
  orders = BATCH,
): Promise<BatchCost> {
  const read = async () => ({ cpu: (await usageOf(backendPid)).cpuSeconds, wal: await walPosition(database.pool) });
  const before = await read();
  const startedAt = performance.now();
  await run();
  const ms = performance.now() - startedAt;
  const after = await read();
  return { orders, ms, microseconds: (after.cpu - before.cpu) * 1e6, walBytes: after.wal - before.wal };
}

/** The cost of one order. */
export function costOfOrder(costs: readonly BatchCost[]) {
  const sum = (read: (cost: BatchCost) => number) => costs.reduce((total, cost) => total + read(cost), 0);
  const orders = sum((cost) => cost.orders);
  return {
    perSecond: median(costs.map((cost) => (cost.orders * 1000) / cost.ms)),
    microseconds: sum((cost) => cost.microseconds) / orders,
    walBytes: sum((cost) => cost.walBytes) / orders,
    slowestMs: Math.max(...costs.map(({ ms }) => ms)),
  };
}

/** Formats the cost of an order in each of these cases as a Markdown table, with further rows. */
export function renderCosts(cases: Record<string, readonly BatchCost[]>, more: string[][] = []): string {
  const rows = Object.entries(cases).map(([name, costs]) => {
    const { perSecond, microseconds, walBytes, slowestMs } = costOfOrder(costs);
    return [
      name,
      perSecond.toFixed(0),
      `${microseconds.toFixed(1)} µs`,
      `${walBytes.toFixed(0)} B`,
      `${slowestMs.toFixed(0)} ms`,
    ];
  });
  return table(['an order', 'orders/s', 'CPU of Postgres', 'WAL', 'slowest batch'], [...rows, ...more]);
}

/** An order like a real one; the number determines its ids. */
function makeSampleOrder(number: number) {
  return {
    source_order_id: `SHOP-${String(number).padStart(9, '0')}`,
    customer: {
      name: `${oneOf(FIRST)} ${oneOf(LAST)}`,
      phone: `05${String(Math.floor(Math.random() * 1e8)).padStart(8, '0')}`,
      email: `customer${number}@example.com`,
    },
    address: `Apt ${number % 3000}, Marina Heights, Dubai Marina`,
    emirate: oneOf(['Dubai', 'Dubai', 'Sharjah', 'Abu Dhabi', 'Ajman']),
    area: 'Dubai Marina',
    items: [
      { name: 'Chicken Shawarma', quantity: 2, sku: 'SH-1' },
      { name: 'Karak', quantity: 3 },
    ],
    total: '149.50',
    delivery_instructions: 'Leave it with the guard and call when you are on your way up, please.',
  };
}
