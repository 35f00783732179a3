import { randomUUID, randomUUIDv7 } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Database } from '@orders/database/connect.ts';
import { writeOrders } from '@orders/database/orders/write-orders.ts';
import { recordReceipts } from '@orders/database/receipts/record-receipts.ts';
import { normalizeSent } from '@orders/domain/normalize-order.ts';
import { claimReceipts } from '@orders/worker/receipts/claim-receipts.ts';

/** A pool of one connection. */
export interface Writer {
  database: Database;
  backendPid: number;
}

/** The cost of `writeOrders` for a batch. */
export interface BatchCost {
  ms: number;
  /** CPU time of Postgres. */
  microseconds: number;
  walBytes: number;
}

export type SampleOrder = ReturnType<typeof makeSampleOrder>;

/** Linux reports CPU time in hundredths of a second. */
const TICK_US = 10_000;

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
  return measureStatement(writer, () => writeOrders(database, leaseId, [batchId], writable));
}

/** Measures statements on the writer's connection. */
export async function measureStatement(
  { database, backendPid }: Writer,
  run: () => Promise<unknown>,
): Promise<BatchCost> {
  const before = { cpu: cpuMicroseconds(backendPid), wal: await walBytes(database), at: performance.now() };
  await run();
  const ms = performance.now() - before.at;
  const wal = (await walBytes(database)) - before.wal;
  return { ms, walBytes: wal, microseconds: cpuMicroseconds(backendPid) - before.cpu };
}

/** An order like a real one; the number determines its ids. */
export function makeSampleOrder(number: number) {
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

/** The user and kernel CPU time of a process, to a hundredth of a second. */
export function cpuMicroseconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** The position in the WAL. */
export async function walBytes({ pool }: Database): Promise<number> {
  const { rows } = await pool.query("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes");
  return rows[0].bytes;
}
